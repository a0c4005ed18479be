"""Jobs that wait for others, judged by rows that are old by then, and while other reasons hold them back."""

from __future__ import annotations

import pytest

from shared.admission.pauses import pause
from shared.core.job import JobState, Reason
from shared.core.ledger.entries import Active
from shared.lifecycle.waiting.dependents import settle
from shared.operate.ends.cancel import cancel
from tests.unit.world import World


async def _end(world: World, state: JobState = JobState.SUCCEEDED, number: int = 0) -> None:
    world.engine.set_state(world.engine.started[number], state)
    await world.make_pass()


async def _rows(world: World) -> list[Active]:
    """The rows of the jobs that wait for others, as a pass reads them."""
    shards = range(world.ledger.shards)
    return [row for shard in shards for row in await world.ledger.active(shard) if row.after]


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED])
async def test_a_job_that_was_cancelled_after_its_row_was_read_stays_as_it_is(
    world: World, state: JobState
) -> None:
    await world.named("data")
    waits = await world.named("train", after=["data"])
    rows = await _rows(world)
    await cancel(world.ports, waits.id)
    await _end(world, state)
    before = await world.job(waits.id)

    assert await settle(world.ports, rows, ()) == []
    assert await world.job(waits.id) == before
    assert (before.state, before.reason) != (JobState.CANCELLED, Reason.DEPENDENCY)


async def test_a_job_whose_record_is_gone_stops_no_other(world: World) -> None:
    await world.named("data")
    lost_job, waits = await world.named("gone", after=["data"]), await world.named("train", after=["data"])
    await world.job(waits.id)
    world.policy(paused=True)
    rows = await _rows(world)
    await _end(world)
    for key in [key for key in world.ledger.held if lost_job.id in key[1]]:
        del world.ledger.held[key]

    assert await settle(world.ports, rows, ()) == []
    assert (await world.job(waits.id)).unmet == ()


async def test_a_job_with_a_turn_says_first_for_which_jobs_it_waits(world: World) -> None:
    world.policy(max_jobs_per_hour=2)
    await world.named("one")
    other = await world.named("two")
    waits = await world.named("three", after=["one", "two"])
    assert waits.slot is not None

    await _end(world)

    halfway = await world.job(waits.id)
    assert halfway.waiting is not None
    assert halfway.waiting.word == "Dependency"
    assert halfway.message == halfway.waiting.text == f"waits for two ({other.id}) to succeed"


async def test_a_turn_that_is_over_is_no_reason_to_wait(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.named("data")
    waits = await world.named("train", after=["data"])
    await world.make_pass(2 * 3600)
    await pause(world.ports, "ann", "")

    await _end(world)

    after = await world.job(waits.id)
    assert (after.state, after.unmet) == (JobState.ACCEPTED, ())
    assert after.waiting is None or after.waiting.word != "HourlyTurn"
