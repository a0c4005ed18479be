"""Jobs that wait for one whose record is gone, or cannot be read: the former end, the latter wait on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.core.job import Job, JobState, Reason
from tests.unit.world import World


def _lose(world: World, job: Job) -> None:
    for key in [key for key in world.ledger.held if job.id in key[1]]:
        del world.ledger.held[key]


@pytest.mark.parametrize("condition", ["after", "afterFailure"])
async def test_a_dependent_of_a_job_without_a_record_is_cancelled_and_says_so(
    world: World, condition: str
) -> None:
    first = await world.named("data")
    second = await world.named("train", **{condition: ["data"]})
    last = await world.named("report", after=[second.id])
    _lose(world, first)

    await world.make_pass()

    after = await world.job(second.id)
    assert (after.state, after.reason) == (JobState.CANCELLED, Reason.DEPENDENCY)
    assert after.message == (
        f"there is no record of data ({first.id}) any more, so how it ended can never be known"
    )
    assert (await world.job(last.id)).state is JobState.CANCELLED
    assert (await world.job(last.id)).message.startswith(f"train ({second.id}) ended cancelled")


async def test_what_was_met_before_the_record_went_stays_met(world: World) -> None:
    first, other = await world.named("data"), await world.named("more")
    waits = await world.named("train", after=["data", "more"])
    target = first.fixed_target
    world.engine.set_state(target.name, JobState.SUCCEEDED)
    await world.make_pass()
    _lose(world, first)

    await world.make_pass()
    assert (await world.job(waits.id)).state is JobState.ACCEPTED

    world.engine.set_state(other.fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(waits.id)).state is JobState.QUEUED


async def test_a_job_whose_record_cannot_be_read_is_waited_for(world: World) -> None:
    first = await world.named("data")
    waits = await world.named("train", after=["data"])
    (key,) = [key for key in world.ledger.held if key[1] == f"n|{first.id}"]
    held = world.ledger.held[key]
    world.ledger.held[key] = replace(held, row={**held.row, "Packed0": "x"})

    await world.make_pass()
    assert (await world.job(waits.id)).state is JobState.ACCEPTED

    world.ledger.held[key] = held  # mended
    world.engine.set_state(first.fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(waits.id)).state is JobState.QUEUED
