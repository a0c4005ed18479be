"""One dropped folder and what is left for its person, as the tests of answers use it."""

from __future__ import annotations

import json
from typing import Any

from shared.core.job import Job, JobState
from shared.intake.arrive import blob_arrived
from tests.unit.world import World, job_json

SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run/train.py"


async def drop_folder(world: World, **properties: Any) -> Job:
    document = job_json(customToolkitSettings={"commandLine": f"python {SCRIPT}"}, **properties)
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.drops.upload("digits/run/job.json", json.dumps(document).encode())
    world.pass_time(10)
    looked = await blob_arrived(world.ports, "scripts", "digits/run/job.json")
    return looked.accepted[0].job


def status_lines(world: World) -> list[str]:
    written = [line for name, line in world.drops.written if name.endswith("/STATUS")]
    return [line.decode().split()[0] for line in written]


def status_line_of(world: World, job: Job) -> str:
    return world.drops.receipt_files[f"{job.receipt}/STATUS"].decode()


async def end(world: World, state: JobState, **how: object) -> None:
    world.engine.set_state(world.engine.started[0], state, **how)
    await world.make_pass()
