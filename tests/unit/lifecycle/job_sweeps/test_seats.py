"""A seat of a job sweep: free with the end of its job, used at once, and never after a cancel."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.engine import Observation, Order
from shared.core.errors import Rejected, Unavailable
from shared.core.job import JobState
from shared.core.job_sweeps.record import JobSweep
from shared.lifecycle.job_sweeps import seats
from shared.lifecycle.push import jobs_ended
from shared.lifecycle.transition import apply, note
from shared.operate.job_sweeps import cancel_sweep
from tests.crash.invariants.swept_jobs import too_many_at_work
from tests.unit.lifecycle.job_sweeps.swept import (
    accepted_sweep,
    end,
    read_sweep,
    reported_ends,
    states,
)
from tests.unit.world import World, job_json

QUEUED, ACCEPTED, SUCCEEDED = JobState.QUEUED, JobState.ACCEPTED, JobState.SUCCEEDED


async def _report_ends(world: World, sweep: JobSweep, *numbers: int) -> None:
    for number in numbers:
        end(world, await world.job(sweep.job_id(number)))
    await jobs_ended(world.ports, [sweep.job_id(number) for number in numbers])


async def test_a_notice_of_an_end_gives_the_seat_to_the_next_job_at_once(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()

    await _report_ends(world, sweep, 0)

    assert await states(world, sweep) == [SUCCEEDED, QUEUED, ACCEPTED, ACCEPTED]
    assert (await read_sweep(world, sweep.id)).seats == (1,)
    assert too_many_at_work(world) == []


async def test_the_last_two_ends_at_once_are_reported_by_one_event(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    await world.make_pass()
    await _report_ends(world, sweep, 0, 1)

    await _report_ends(world, sweep, 2, 3)
    await _report_ends(world, sweep, 2, 3)
    await world.make_pass()

    assert await states(world, sweep) == [SUCCEEDED] * 4
    (event,) = reported_ends(world)
    assert event["data"]["counts"] == {"succeeded": 4}


async def test_a_sweep_of_one_job_is_reported(world: World) -> None:
    sweep = await accepted_sweep(world, sweep={"lr": [1]})
    await world.make_pass()

    await _report_ends(world, sweep, 0)

    assert [event["data"]["total"] for event in reported_ends(world)] == [1]


async def test_while_submissions_are_paused_the_next_job_has_its_seat_and_waits(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()
    await pause(world.ports, "operator", "test")

    await _report_ends(world, sweep, 0)

    assert await states(world, sweep) == [SUCCEEDED, ACCEPTED, ACCEPTED, ACCEPTED]
    assert (await read_sweep(world, sweep.id)).seats == (1,)


async def test_where_no_more_jobs_may_be_active_the_next_one_waits_for_the_timer(world: World) -> None:
    world.policy(max_active_jobs=1)
    sweep = await accepted_sweep(world, parallel=1)
    await world.message({"spec": job_json()}, "other")
    world.ports.memo.forget("at work")

    await world.make_pass()

    assert await states(world, sweep) == [ACCEPTED] * 4
    assert len(world.engine.started) == 1


def _refuse(world: World, patch: pytest.MonkeyPatch, number: int) -> None:
    """The engine refuses so many submissions, and takes every other."""
    original, errors = world.engine.submit, [Rejected("no such image")] * number

    async def submit(order: Order) -> Observation | None:
        if errors:
            raise errors.pop()
        return await original(order)

    patch.setattr(world.engine, "submit", submit)


async def test_jobs_that_are_refused_at_their_submission_do_not_wait_for_the_timer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    _refuse(world, monkeypatch, 3)

    await world.make_pass()

    assert await states(world, sweep) == [JobState.FAILED] * 3 + [QUEUED]
    assert (await read_sweep(world, sweep.id)).counts == {JobState.FAILED: 3}


async def test_a_sweep_of_which_every_job_is_refused_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    _refuse(world, monkeypatch, 4)

    await world.make_pass()

    assert [event["data"]["counts"] for event in reported_ends(world)] == [{"failed": 4}]
    assert (await read_sweep(world, sweep.id)).ended is not None


async def test_what_storage_refuses_then_is_left_to_the_timer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()

    async def fail(*_: Any) -> None:
        raise Unavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(type(world.ports.job_sweeps), "get", fail)
        await _report_ends(world, sweep, 0)
    assert await states(world, sweep) == [SUCCEEDED, ACCEPTED, ACCEPTED, ACCEPTED]

    await world.make_pass()

    assert await states(world, sweep) == [SUCCEEDED, QUEUED, ACCEPTED, ACCEPTED]


async def _cancel_without_ends(world: World, monkeypatch: pytest.MonkeyPatch, sweep: JobSweep) -> None:
    """Cancel a sweep while the end of no job can be asked for, and look at it once."""

    def fail(*_: Any) -> Awaitable[None]:
        raise Unavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(seats, "request_end", fail)
        patch.setattr("shared.operate.job_sweeps.request_end", fail)
        await cancel_sweep(world.ports, sweep.id)
        await world.make_pass()


async def test_no_job_of_a_cancelled_sweep_is_submitted_though_its_own_end_could_not_be_asked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=2)

    await _cancel_without_ends(world, monkeypatch, sweep)

    assert world.engine.started == []
    assert (await read_sweep(world, sweep.id)).seats == ()
    await world.make_pass()
    assert await states(world, sweep) == [JobState.CANCELLED] * 4


async def test_a_seat_that_a_cancelled_sweep_gave_before_is_not_used(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    await pause(world.ports, "operator", "test")
    await world.make_pass()
    assert (await read_sweep(world, sweep.id)).seats == (0, 1)
    world.ports.memo.forget("paused")
    await world.ledger.pause(None)

    await _cancel_without_ends(world, monkeypatch, sweep)

    assert world.engine.started == []


async def test_a_job_whose_turn_comes_later_is_not_submitted_before(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()
    stored = await world.ledger.get(sweep.job_id(1))
    assert stored is not None
    late = world.now + timedelta(minutes=30)
    assert await apply(world.ports, note(world.ports, stored, due=late, slot=late))

    await _report_ends(world, sweep, 0)

    assert await states(world, sweep) == [SUCCEEDED, ACCEPTED, ACCEPTED, ACCEPTED]
    world.policy(max_jobs_per_hour=1_000)
    await world.make_pass()
    assert await states(world, sweep) == [SUCCEEDED, ACCEPTED, ACCEPTED, ACCEPTED]
    await world.make_pass(1800)
    assert await states(world, sweep) == [SUCCEEDED, QUEUED, ACCEPTED, ACCEPTED]


async def test_a_job_waits_for_one_of_a_sweep_by_its_id_or_name(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=4)
    job = (await world.message({"spec": job_json(), "after": [sweep.job_id(0), "tune-3"]}, "m2")).job
    await world.make_pass()

    await _report_ends(world, sweep, 0, 3)
    await world.make_pass()

    assert (await world.job(job.id)).state is QUEUED


async def test_a_job_that_names_a_whole_sweep_is_rejected_with_a_remedy(world: World) -> None:
    sweep = await accepted_sweep(world)

    job = (await world.message({"spec": job_json(), "after": [sweep.id]}, "m2")).job

    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert (problem["code"], problem["pointer"]) == ("SW112", "/after/0")
    assert problem["message"] == f"{sweep.id} is a sweep, not a job"
    assert "name jobs of it" in problem["remedy"]


@pytest.mark.parametrize(("limit", "state"), [(1, ACCEPTED), (3, QUEUED)])
async def test_the_next_job_counts_for_the_limit_of_active_jobs(
    world: World, limit: int, state: JobState
) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.message({"spec": job_json()}, "other")
    await world.make_pass()
    world.policy(max_active_jobs=limit)

    await _report_ends(world, sweep, 0)

    assert await states(world, sweep) == [SUCCEEDED, state, ACCEPTED, ACCEPTED]
    assert (await read_sweep(world, sweep.id)).seats == (1,)
