"""A deployment in memory with something for every command, and files beside it."""

from __future__ import annotations

import base64
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from shared.core.job import JobState
from shared.core.ledger.dead import DeadMessage, dead_id
from shared.core.relations.hold import Held
from shared.intake.arrive import message_arrived
from shared.operate.job_sweeps import cancel_sweep
from slipway import Client, Job
from tests.unit.world import World, job_json

HOOK = "https://hooks.example.com/in"
TEAMS = {"teams": {"vision": {"members": [{"user": "ann"}]}}}
MESSAGE: dict[str, Any] = {"name": "sent", "spec": job_json()}
SWEEP: dict[str, Any] = {"name": "lr", "spec": job_json(), "sweep": {"lr": [1, 2]}, "parallel": 1}
_IDS = re.compile(r"\b(j|s)_[a-z2-7]{24}")
#: A word of a command line that stands for an id or a file.
_VALUE = re.compile(r"[A-Z]{3,}")


class Scene:
    """Jobs: one has ended, one waits, and one for that, one is held; two sweeps, and a dead message."""

    def __init__(self, world: World, values: dict[str, str]) -> None:
        self.world, self.values = world, values
        self.folder = Path()
        #: the JSON files of the folder, by their names
        self.files: dict[str, Any] = {"message": MESSAGE, "sweep": SWEEP, "teams": TEAMS}

    @classmethod
    async def set_up(cls, world: World) -> Scene:
        """Set it up."""
        notify = [{"url": HOOK, "events": ["succeeded"]}]
        ran = (await world.message({"spec": job_json(), "name": "ran", "notify": notify}, "m1")).job.id
        (engine,) = world.engine.started
        world.engine.output = {"stdout.txt": b"a line\n"}
        world.engine.set_state(engine, JobState.SUCCEEDED)
        await world.make_pass()
        await world.wake()
        waits = (await world.message({"spec": job_json(), "name": "waits"}, "m2")).job.id
        later = {"spec": job_json(), "name": "later", "after": [waits]}
        later_id = (await world.message(later, "m4")).job.id
        held = await _held(world)
        ended, tune = await _sweep(world, "ended"), await _sweep(world, "tune")
        await cancel_sweep(world.ports, ended)
        for _ in range(3):
            await world.make_pass()
        await world.ports.dead.keep(dead := _dead(world))
        (event,) = await world.ports.outbox.events(ran)
        values = {"RAN": ran, "WAITS": waits, "ENDED": ended, "SWEEP": tune, "HELD": held, "LATER": later_id}
        scene = cls(world, {**values, "EVENT": event.event_id, "DEAD": dead.id, "HOOK": HOOK})
        scene.files["receipt"] = world.receipt(await world.job(ran))
        return scene

    def move(self, folder: Path) -> None:
        """Write the files that commands take into a new folder."""
        folder.mkdir()
        self.folder = folder
        self.values["FOLDER"] = str(folder)
        for name, document in self.files.items():
            (folder / f"{name}.json").write_text(json.dumps(document))

    def ran(self, client: Client) -> Job:
        """The job that has ended."""
        return client.job(self.values["RAN"])

    def words(self, line: str, url: str) -> list[str]:
        """A command line with the ids and files of this scene."""
        values = {**self.values, "URL": url}
        words = [_VALUE.sub(lambda match: values.get(match[0], match[0]), word) for word in line.split()]
        return words if "URL" in line else [*words, "--url", url]

    def plain(self, text: str, url: str) -> str:
        """A text without what differs from run to run."""
        for one, word in ((url, "URL"), (url.partition("//")[2], "URL"), (str(self.folder), "FOLDER")):
            text = text.replace(one, word)
        return _IDS.sub("ID", text)


async def _held(world: World) -> str:
    """The id of a job that has failed, and keeps its node."""
    world.policy(max_hold=timedelta(hours=1))
    job = (await world.message({"spec": job_json(), "name": "held", "hold": "PT30M"}, "m3")).job
    name = (await world.job(job.id)).fixed_target.name
    world.engine.set_state(name, JobState.RUNNING)
    world.engine.held_jobs[name] = Held(exit_code=3, until=world.now + timedelta(minutes=30))
    await world.make_pass()
    await world.make_pass()
    return job.id


async def _sweep(world: World, name: str) -> str:
    """The id of a sweep of two jobs, of which one is at work."""
    message = {**SWEEP, "name": name, "idempotencyKey": name}
    await message_arrived(world.ports, json.dumps(message).encode(), name)
    return next(job.sweep.id for job in world.ledger.jobs if job.sweep and job.name.startswith(name))


def _dead(world: World) -> DeadMessage:
    body = base64.b64encode(json.dumps(job_json()).encode()).decode()
    identity = dead_id("jobs", "m9")
    return DeadMessage(identity, "jobs", "m9", body, False, world.now, "tried 40 times", "x")
