"""Starts and ends are the cluster's own, as far as it says them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from shared.core.job import Job, JobState, Reason
from tests.unit.lifecycle.test_outages import JOB
from tests.unit.world import World


async def _run(world: World, state: JobState, **how: Any) -> Job:
    """A job that a pass sees running a minute after its start, and that has ended then."""
    job = (await world.message(JOB)).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], state, **how)
    await world.make_pass()
    return await world.job(job.id)


async def test_the_start_that_comes_with_the_end_is_earlier_than_the_pass_that_saw_it(
    world: World,
) -> None:
    started, ended = world.now + timedelta(seconds=5), world.now + timedelta(seconds=30)
    job = await _run(world, JobState.SUCCEEDED, started=started, ended=ended)
    assert (job.started, job.ended) == (started, ended)
    receipt = world.receipt(job)
    assert (receipt["waitedSeconds"], receipt["ranSeconds"], receipt["nodeHours"]) == (5, 25, 0.0069)
    assert receipt["attempts"][0]["runningAt"] == receipt["startedAt"]
    assert receipt["attempts"][0]["endedAt"] == receipt["endedAt"]


async def test_a_start_that_only_a_pass_saw_is_never_after_the_end(world: World) -> None:
    ended = world.now + timedelta(seconds=30)
    job = await _run(world, JobState.FAILED, reason=Reason.USER, ended=ended)
    assert (job.started, job.ended) == (ended, ended)


async def test_what_the_cluster_never_started_has_no_start(world: World) -> None:
    job = (await world.message(JOB)).job
    world.engine.set_state(
        world.engine.started[0], JobState.CANCELLED, reason=Reason.TERMINATED, ended=world.now
    )
    await world.make_pass()
    job = await world.job(job.id)
    assert (job.state, job.started) == (JobState.CANCELLED, None)
    assert "ranSeconds" not in world.receipt(job)


@pytest.mark.parametrize("seconds", [5, 90])
async def test_a_running_job_has_the_start_that_the_cluster_says(world: World, seconds: int) -> None:
    job = (await world.message(JOB)).job
    started = world.now + timedelta(seconds=seconds)
    world.engine.set_state(world.engine.started[0], JobState.RUNNING, started=started)
    await world.make_pass()
    assert (await world.job(job.id)).started == started


async def test_no_step_is_earlier_than_the_one_before_it_by_a_slow_clock_either(world: World) -> None:
    job = (await world.message(JOB)).job
    begun = world.now
    world.now -= timedelta(minutes=5)
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    after = await world.job(job.id)
    assert after.state is JobState.SUCCEEDED
    assert {entry.at for entry in after.history} == {begun}
    assert after.started is not None
    assert after.ended is not None
    assert begun <= after.started <= after.ended
