"""A deployment that has a row of every kind, and one job that none of them is about."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass

from shared.admission.pauses import pause, resume
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Reported
from shared.core.ledger.node_history import NodeHistory, Point
from shared.core.notify.receivers import Disabled
from shared.core.ports import Posted
from shared.core.teams.document import Teams
from shared.intake.arrive import message_arrived
from shared.intake.dead_letter import bury_poison
from shared.intake.drops.inventory import inventory
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
OTHER = {"url": "https://other.example.com/slipway"}
_TEAMS = {"default": "speech", "teams": {"vision": {"quota": {"jobs": 1}}, "speech": {}}}


@dataclass
class Furnished:
    """The deployment, and its good job, which is at work."""

    world: World
    good: Job

    def others(self) -> list[tuple[str, str]]:
        """The keys of all rows that are not about the good job."""
        return sorted(key for key in self.world.ledger.held if self.good.id not in key[1])


@dataclass(frozen=True)
class Snapshot:
    """A furnished deployment's storage and cluster, of which each test gets its own copy."""

    furnished: Furnished

    def copied(self) -> Furnished:
        """The same deployment, in a process that has just started."""
        before, world = self.furnished.world, World()
        world.now = before.now
        world.ledger.held.update(before.ledger.held)
        for name in ("engine", "drops", "archive", "webhooks"):
            members = vars(getattr(before, name)).items()
            own = {one: copy(value) for one, value in members if isinstance(value, dict | list)}
            vars(getattr(world, name)).update(own)
        world.policy(max_jobs_per_hour=1_000)
        return Furnished(world, self.furnished.good)


async def furnished(world: World) -> Furnished:
    """Jobs that wait, work and ended, of a team with a quota; a sweep; events; what operators wrote."""
    await world.ports.teams.put(Teams.model_validate(_TEAMS), "")
    world.policy(max_jobs_per_hour=3)
    await _ended(world, "first", Posted("gone", 410, "410", None, 1), OTHER)
    await _ended(world, "second", Posted("delivered", 204, "2xx", None, 1), HOOK)
    good = await _ask(world, "good")
    await _ask(world, "slot")
    world.policy(max_jobs_per_hour=1_000)
    for name in ("works", "waits"):
        await _ask(world, name, team="vision")
    world.webhooks.answers = [Posted("retry", 503, "5xx", None, 1)]
    await _end(world, "works")
    await _sweeps(world)
    world.drops.upload("a/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)
    await inventory(world.ports)
    await _what_operators_and_timers_wrote(world)
    world.webhooks.answers = [Posted("delivered", 204, "2xx", None, 1)]
    return Furnished(world, good)


async def _ask(world: World, name: str, **members: object) -> Job:
    world.pass_time(1)
    document = {"spec": job_json(), "name": name, "notify": [HOOK], **members}
    return (await world.message(document, f"message-{name}")).job


async def _ended(world: World, name: str, answer: Posted, hook: dict[str, str]) -> None:
    world.webhooks.answers = [answer]
    await _ask(world, name, notify=[hook])
    await _end(world, name)


async def _end(world: World, name: str) -> None:
    (attempt,) = [one for one in world.engine.started if one.startswith(f"{name}-")]
    world.engine.set_state(attempt, JobState.SUCCEEDED)
    await world.make_pass(1)


async def _sweeps(world: World) -> None:
    """One that goes on, and one that has ended."""
    for name in ("over", "goes"):
        template = {"spec": job_json(environmentVariables=[{"name": "N", "value": "{n}"}]), "name": name}
        document = {**template, "sweep": {"n": [1, 2]}, "parallel": 1}
        await message_arrived(world.ports, json.dumps(document).encode(), f"sweep-{name}")
        for number in range(2 if name == "over" else 0):
            await world.make_pass(1)
            await _end(world, f"over-{number}")


async def _what_operators_and_timers_wrote(world: World) -> None:
    await pause(world.ports, "ann", "")
    await resume(world.ports, "ann")
    await bury_poison(world.ports, "jobs", "poison", b"{}")
    await world.outbox.disable(Disabled("1" * 32, "https://gone.example.com/…1", world.now, "410"))
    await world.ledger.report(Reported(world.now, {"row": 1}))
    await world.ports.node_histories.put(NodeHistory("dev", (Point(world.now, (1, 0, 0, 0, 0)),)))
