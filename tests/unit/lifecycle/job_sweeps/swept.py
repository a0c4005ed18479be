"""A sweep of four jobs, and how they end: for the tests of sweeps of jobs."""

from __future__ import annotations

import json
from typing import Any

from shared.core.job import Job, JobState
from shared.core.job_sweeps.record import JobSweep, sweep_id
from shared.core.job_sweeps.view import ENDED
from shared.intake.arrive import message_arrived
from shared.intake.candidate import key_of
from shared.operate.job_sweeps import job_sweep
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


def sweep_message(**members: Any) -> dict[str, Any]:
    spec = job_json(customToolkitSettings={"commandLine": "python train.py --lr {lr} --seed {seed}"})
    parameters = {"lr": [0.1, 0.01], "seed": {"range": [0, 2]}}
    return {"spec": spec, "name": "tune", "notify": [HOOK], "sweep": parameters, **members}


async def accepted_sweep(world: World, **members: Any) -> JobSweep:
    await message_arrived(world.ports, json.dumps(sweep_message(**members)).encode(), "m1")
    return await read_sweep(world, sweep_id(key_of("queue", members.get("idempotencyKey", "message:m1"))))


async def read_sweep(world: World, identity: str) -> JobSweep:
    return (await job_sweep(world.ports, identity)).sweep


async def swept_jobs(world: World, sweep: JobSweep) -> list[Job]:
    return [await world.job(sweep.job_id(index)) for index in range(sweep.total)]


async def states(world: World, sweep: JobSweep) -> list[JobState]:
    return [job.state for job in await swept_jobs(world, sweep)]


def end(world: World, job: Job, state: JobState = JobState.SUCCEEDED) -> None:
    world.engine.set_state(job.fixed_target.name, state)


def reported_ends(world: World) -> list[dict[str, Any]]:
    return [event for event in world.events() if event["type"] == ENDED]
