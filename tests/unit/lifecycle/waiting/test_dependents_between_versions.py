"""Jobs that wait for others: clocks that differ, and rows whose columns another version left behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.core.job import Job, JobState, Reason
from tests.unit.world import World

#: How far the clock of the second process is from that of the first.
SKEWS = [timedelta(hours=-2), timedelta(seconds=-3), timedelta(seconds=3), timedelta(hours=2)]


async def _end(world: World, state: JobState = JobState.SUCCEEDED) -> None:
    world.engine.set_state(world.engine.started[0], state)
    await world.make_pass()


def _set_columns(world: World, job: Job, **columns: str | None) -> None:
    """Write columns of its index row, or remove those that are None."""
    (row,) = (held.row for (_, key), held in world.ledger.held.items() if key == f"n|{job.id}")
    for name, value in columns.items():
        row.pop(name, None)
        if value is not None:
            row[name] = value


@pytest.mark.parametrize("skew", SKEWS, ids=str)
@pytest.mark.parametrize("end", [JobState.SUCCEEDED, JobState.FAILED])
async def test_a_process_with_another_clock_releases_or_ends_who_waits_once(
    world: World, end: JobState, skew: timedelta
) -> None:
    first = await world.named("data")
    follows = await world.named("train", after=["data"])
    alarm = await world.named("alarm", afterFailure=["data"])
    world.engine.set_state(world.engine.started[0], end)

    world.now += skew
    await world.make_pass(0)
    world.now -= skew
    for _ in range(3):
        await world.make_pass()

    assert (await world.job(first.id)).state is end
    runs, cancelled = (follows, alarm) if end is JobState.SUCCEEDED else (alarm, follows)
    assert (await world.job(runs.id)).state is JobState.QUEUED
    assert (await world.job(cancelled.id)).reason is Reason.DEPENDENCY
    assert len(world.engine.started) == 2
    for job in (first, follows, alarm):
        numbers = [entry.sequence for entry in (await world.job(job.id)).history]
        assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("skew", SKEWS, ids=str)
async def test_a_door_with_another_clock_judges_a_job_that_ended(world: World, skew: timedelta) -> None:
    await world.named("data")
    await _end(world, JobState.FAILED)

    world.now += skew
    late = await world.named("train", after=["data"])
    alarm = await world.named("alarm", afterFailure=["data"])
    world.now -= skew
    await world.make_pass()

    assert (await world.job(late.id)).state is JobState.CANCELLED
    assert (await world.job(alarm.id)).state is JobState.QUEUED


@pytest.mark.parametrize("after", [None, ""], ids=["no column", "an empty column"])
async def test_a_row_that_does_not_say_what_its_record_waits_for_is_judged_by_its_record(
    world: World, after: str | None
) -> None:
    await world.named("data")
    waits = await world.named("train", after=["data"])
    _set_columns(world, waits, After=after)

    await world.make_pass()
    early = await world.job(waits.id)
    await _end(world)
    for _ in range(3):
        await world.make_pass()

    assert early.state is JobState.ACCEPTED
    assert (await world.job(waits.id)).state is JobState.QUEUED
    assert len(world.engine.started) == 2


async def test_a_job_that_a_row_shows_as_free_ends_if_its_record_can_never_be_met(world: World) -> None:
    await world.named("data")
    waits = await world.named("train", after=["data"])
    _set_columns(world, waits, After=None)

    await _end(world, JobState.FAILED)

    assert (await world.job(waits.id)).reason is Reason.DEPENDENCY
    assert len(world.engine.started) == 1


async def test_a_row_that_names_what_its_record_has_met_holds_the_job_back_no_longer(world: World) -> None:
    data = await world.named("data")
    waits = await world.named("train", after=["data"])
    world.policy(paused=True)
    await _end(world)
    _set_columns(world, waits, After=data.id)
    world.policy(paused=False)

    for _ in range(3):
        await world.make_pass()

    assert (await world.job(waits.id)).state is JobState.QUEUED
    assert len(world.engine.started) == 2
