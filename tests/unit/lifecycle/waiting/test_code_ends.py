"""A job that waits longer than the address of its code lasts gets a new attempt, which is said before."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.core.engine import Why
from shared.core.job import Job, JobState
from shared.operate.common_waits import as_they_stand
from tests.unit.dropped_folder import drop_folder
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import World

WEEK = timedelta(days=6, hours=23)


async def waits_of(world: World, job: Job, days: float) -> str:
    world.pass_time(days * 24 * 3600)
    (only,) = await as_they_stand(world.ports, [await world.job(job.id)])
    return only.waiting.text if only.waiting else ""


async def test_from_the_sixth_day_on_a_job_says_that_it_gets_a_new_attempt(world: World) -> None:
    world.snapshots.longest = WEEK
    job = await drop_folder(world)

    assert await waits_of(world, job, 5.9) == ""
    assert "a new attempt, at the end of the queue" in await waits_of(world, job, 0.2)


async def test_it_follows_what_the_cluster_says(world: World) -> None:
    world.snapshots.longest = WEEK
    job = await drop_folder(world)
    why = Why("Resources", "the nodes that it needs are busy")
    world.engine.set_state(world.engine.started[-1], JobState.QUEUED, why=why)
    await world.make_pass()

    assert (await waits_of(world, job, 7)).startswith("the nodes that it needs are busy; it waits in its")


@pytest.mark.parametrize("case", ["by key", "no code", "runs"])
async def test_other_jobs_do_not_say_it(world: World, case: str) -> None:
    world.snapshots.longest = None if case == "by key" else WEEK
    job = (await world.message(JOB)).job if case == "no code" else await drop_folder(world)
    if case == "runs":
        world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
        await world.make_pass()

    assert await waits_of(world, job, 7) == ""
