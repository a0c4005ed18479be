"""Cancel is a flag on the record, carried to the engine until the job has ended."""

from __future__ import annotations

import pytest

from shared.core.errors import Misuse, Transient
from shared.core.job import JobState, Reason
from shared.operate.ends.cancel import cancel
from tests.unit.world import World, job_json


async def test_a_queued_job_is_cancelled_on_the_engine_and_then_in_the_record(world: World) -> None:
    job = (await world.message(job_json())).job

    stored = await cancel(world.ports, job.id)
    assert stored.job.cancel
    await world.make_pass()

    ended = await world.job(job.id)
    assert (ended.state, ended.reason) == (JobState.CANCELLED, Reason.TERMINATED)


async def test_a_cancel_that_the_engine_did_not_hear_is_repeated_by_the_sweep(world: World) -> None:
    job = (await world.message(job_json())).job
    world.engine.fail = [Transient("down"), Transient("down"), Transient("down")]

    await cancel(world.ports, job.id)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.QUEUED
    await world.make_pass()
    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.CANCELLED


async def test_a_job_that_was_not_submitted_yet_is_cancelled_at_once(world: World) -> None:
    world.policy(paused=True)
    job = (await world.message(job_json())).job
    assert job.state is JobState.ACCEPTED

    ended = (await cancel(world.ports, job.id)).job

    assert (ended.state, ended.reason, ended.cancel) == (JobState.CANCELLED, Reason.TERMINATED, True)
    assert ended.message == "cancelled before it was submitted"
    assert world.engine.calls == 0


async def test_a_cancel_while_submitting_finishes_the_submission_first(world: World) -> None:
    world.engine.fail = [Transient("no answer")]
    job = (await world.message(job_json())).job
    assert job.state is JobState.SUBMITTING

    await cancel(world.ports, job.id)
    for _ in range(3):
        await world.make_pass()

    assert (await world.job(job.id)).state is JobState.CANCELLED
    assert len(world.engine.started) == 1


async def test_a_job_that_ended_stays_as_it_is(world: World) -> None:
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    stored = await cancel(world.ports, job.id)

    assert stored.job.state is JobState.SUCCEEDED
    assert not stored.job.cancel


async def test_a_job_that_finished_before_the_cancel_arrived_keeps_its_own_end(world: World) -> None:
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await cancel(world.ports, job.id)
    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_an_unknown_job_is_a_404(world: World) -> None:
    with pytest.raises(Misuse) as caught:
        await cancel(world.ports, "j_unknown")
    assert caught.value.status == 404
