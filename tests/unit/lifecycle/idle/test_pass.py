"""One pass over idle jobs: which it looks at, when again, and what it does at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.core.job import JobState
from shared.core.ledger.entries import Active
from shared.core.pacing.looks import Looks
from shared.lifecycle.idle.reap import reap
from tests.unit.lifecycle.idle.idle_world import IdleWorld

#: How long a delivery may wait; no event of these tests does.
_ANY = timedelta(days=1)


async def _row(world: IdleWorld) -> Active:
    shards = range(world.ledger.shards)
    (row,) = [row for shard in shards for row in (await world.ledger.unfinished(shard, world.now, _ANY)).jobs]
    return row


async def _pass(world: IdleWorld) -> int:
    return await reap(world.ports, [await _row(world)])


def _report_idle_minutes(world: IdleWorld, minutes: int) -> None:
    """The lines of some minutes, in which no pass takes place."""
    for _ in range(minutes * 4):
        world.pass_time(15)
        world.report(world.now)


@pytest.mark.parametrize(
    "changes", [{"state": JobState.QUEUED}, {"cancel": True}, {"misses": 1}, {"target": None}], ids=str
)
async def test_only_a_job_that_certainly_runs_is_looked_at(changes: dict[str, Any]) -> None:
    world = IdleWorld()
    await world.running()
    _report_idle_minutes(world, 61)
    row = await _row(world)

    assert await reap(world.ports, [row._replace(**changes)]) == 0
    assert world.types() == []
    assert await reap(world.ports, [row]) == 1
    assert world.types() == ["idle"]


async def test_a_pass_counts_no_job_while_the_limits_are_off_or_files_hang() -> None:
    world = IdleWorld()
    await world.running()
    _report_idle_minutes(world, 61)
    never = asyncio.Event()

    async def hangs(*_: Any) -> Any:
        await never.wait()

    world.policy(idle_gpus=0.0)
    assert await _pass(world) == 0
    world.policy(idle_gpus=3600.0, dispatch_deadline=0.01)
    world.engine.files = hangs  # type: ignore[method-assign, assignment]
    assert await _pass(world) == 0


async def test_a_warning_is_sent_and_an_end_is_requested_in_the_same_pass() -> None:
    world = IdleWorld()
    job = await world.running()
    _report_idle_minutes(world, 61)

    await _pass(world)
    assert world.types() == ["idle"]
    _report_idle_minutes(world, 31)
    await _pass(world)

    assert (await world.job(job.id)).cancel
    assert world.engine.jobs[job.fixed_target.name].state is JobState.CANCELLED


async def test_a_job_of_which_nothing_is_known_is_looked_at_every_five_minutes() -> None:
    world = IdleWorld()
    world.percent = None
    await world.running()
    world.pass_time(3601)

    looks = []
    for _ in range(11):
        looks.append(await _pass(world))
        world.now += timedelta(minutes=1)

    assert looks == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


async def _warned(world: IdleWorld) -> str:
    """The id of a job that was warned, by a process that has ended since."""
    job = await world.running()
    _report_idle_minutes(world, 61)
    await _pass(world)
    assert world.types() == ["idle"]
    world.use(looks=Looks())
    return job.id


async def test_another_process_looks_once_and_then_when_the_time_is_over() -> None:
    world = IdleWorld()
    job_id = await _warned(world)

    looks = []
    for _ in range(29):
        _report_idle_minutes(world, 1)
        looks.append(await _pass(world))
    assert looks == [1] + [0] * 28
    assert not (await world.job(job_id)).cancel
    _report_idle_minutes(world, 1)

    assert await _pass(world) == 1
    ended = await world.job(job_id)
    assert (ended.cancel, ended.message.endswith("so its end is requested")) == (True, True)


async def test_a_job_ends_only_after_reports_of_the_whole_time() -> None:
    world = IdleWorld()
    job_id = await _warned(world)
    _report_idle_minutes(world, 28)
    world.pass_time(180)

    assert await _pass(world) == 1
    assert not (await world.job(job_id)).cancel
    world.now -= timedelta(seconds=180)
    _report_idle_minutes(world, 4)

    assert await _pass(world) == 1
    assert (await world.job(job_id)).cancel


async def test_a_warned_job_of_which_nothing_is_known_is_looked_at_every_five_minutes() -> None:
    world = IdleWorld()
    job_id = await _warned(world)

    looks = []
    for _ in range(60):
        world.pass_time(60)
        looks.append(await _pass(world))

    # The reports that it has count for some minutes more.
    assert looks[-20:].count(1) == 4
    assert not (await world.job(job_id)).cancel
