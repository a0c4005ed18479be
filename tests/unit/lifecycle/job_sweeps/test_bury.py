"""bury: how many sweeps go into the archive, a batch at a time, and what stays without keeping the others."""

from __future__ import annotations

import asyncio
import itertools
import math

import pytest

from shared.adapters.storage.rows import shard_of
from shared.core.errors import Unreadable
from shared.core.job_sweeps.record import JobSweep, sweep_id
from shared.core.ledger.job_sweeps import FinishedSweep
from shared.intake.candidate import key_of
from shared.lifecycle.archive import bury_sweeps
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep, end, read_sweep, swept_jobs
from tests.unit.world import World

DAY = 86_400
SHARD = 0


async def _ended(world: World, number: int) -> list[JobSweep]:
    """So many sweeps of one job in the same shard, each of which ended a day after the one before."""
    names = (f"k{n}" for n in itertools.count())
    keys = (key for key in names if not shard_of(sweep_id(key_of("queue", key)), world.ledger.shards))
    ended = []
    for key in itertools.islice(keys, number):
        sweep = await accepted_sweep(world, sweep={"lr": [1]}, idempotencyKey=key)
        await world.make_pass()
        world.pass_time(DAY)
        for job in await swept_jobs(world, sweep):
            end(world, job)
        await world.make_pass()
        ended.append(await read_sweep(world, sweep.id))
    world.pass_time(DAY)
    return ended


async def _names(world: World, sweeps: list[JobSweep]) -> list[str]:
    """Where each lies in the archive; "" for one that does not."""
    stored = [await world.ports.job_sweeps.get(sweep.id) for sweep in sweeps]
    return [one.sweep.archived for one in stored if one is not None]


@pytest.mark.parametrize("batch", [1, 2, 3, 50])
async def test_batch_after_batch_all_that_ended_are_buried_and_counted(world: World, batch: int) -> None:
    sweeps = await _ended(world, 3)
    world.policy(archive_batch=batch)

    assert await bury_sweeps(world.ports, SHARD, world.now, math.inf) == 3

    assert all(await _names(world, sweeps))
    assert await bury_sweeps(world.ports, SHARD, world.now, math.inf) == 0


async def test_a_sweep_that_cannot_be_read_stays_and_keeps_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweeps = await _ended(world, 3)
    world.policy(archive_batch=1)
    original = world.ports.job_sweeps.gather

    async def gather(name: str) -> FinishedSweep | None:
        if name == sweeps[0].id:
            raise Unreadable(name, "damaged")
        return await original(name)

    monkeypatch.setattr(world.ports.job_sweeps, "gather", gather)

    async with asyncio.timeout(60):
        assert await bury_sweeps(world.ports, SHARD, world.now, math.inf) == 2

    assert [bool(name) for name in await _names(world, sweeps)] == [False, True, True]


async def test_a_sweep_lies_in_the_archive_by_the_day_of_its_end(world: World) -> None:
    (sweep,) = await _ended(world, 1)
    assert sweep.ended is not None
    assert sweep.ended.date() > sweep.created.date()

    await bury_sweeps(world.ports, SHARD, world.now, math.inf)

    (name,) = await _names(world, [sweep])
    assert name.startswith(f"{sweep.ended:%Y/%m/%d}/")


async def test_after_the_deadline_no_sweep_is_buried(world: World) -> None:
    sweeps = await _ended(world, 1)

    assert await bury_sweeps(world.ports, SHARD, world.now, 0.0) == 0

    assert await _names(world, sweeps) == [""]
