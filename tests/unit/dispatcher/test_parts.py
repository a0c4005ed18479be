"""A sweep that is handed out: each part by one process, twice by nobody, and by everybody without harm."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from shared.arrive import message_arrived
from shared.errors import Unavailable
from shared.index import Unfinished
from shared.job import JobState
from shared.message import Sweep, sweep_message
from shared.parts import begin, sweep_part
from shared.storage.leases import TableLeases
from tests.unit.dispatcher.world import World, job_json


@pytest.fixture
def world() -> World:
    world = World()
    world.policy(sweep_parts=2)
    return world


async def running(world: World, number: int = 12) -> None:
    for n in range(number):
        await world.message(job_json(), f"m{n}")
    for name in world.engine.started:
        world.engine.turn(name, JobState.RUNNING)


async def ordered(world: World) -> list[str]:
    world.pass_time(60)
    assert await begin(world.ports) is None
    sent = [body for _, body, _ in world.queues.sent]
    world.queues.sent.clear()
    return sent


async def states(world: World) -> set[JobState]:
    return {job.state for job in world.ledger.jobs}


async def test_the_messages_of_one_timer_sweep_every_shard_once(world: World) -> None:
    await running(world)
    first, second = await ordered(world)
    await message_arrived(world.ports, first.encode(), "a")
    assert await states(world) == {JobState.QUEUED, JobState.RUNNING}
    await message_arrived(world.ports, second.encode(), "b")
    assert await states(world) == {JobState.RUNNING}


async def test_with_one_part_the_timer_sweeps_and_sends_nothing(world: World) -> None:
    world.policy(sweep_parts=1)
    await running(world)
    swept = await begin(world.ports)
    assert swept is not None
    assert swept.changed == 12
    assert world.queues.sent == []
    assert not any(key[0] == "leases" for key in world.ledger.rows)


async def test_what_piled_up_counts_as_one(world: World) -> None:
    await running(world)
    old = [Sweep(0, 2, world.now + timedelta(minutes=n)) for n in range(5)]
    world.pass_time(600)
    assert await sweep_part(world.ports, old[0]) is not None
    assert [await sweep_part(world.ports, one) for one in old] == [None] * 5
    world.pass_time(60)
    assert await sweep_part(world.ports, Sweep(0, 2, world.now)) is not None


async def test_two_at_once_do_the_work_of_one(world: World) -> None:
    await running(world)
    done = await asyncio.gather(*(sweep_part(world.ports, Sweep(0, 1, world.now)) for _ in range(4)))
    assert sum(swept.changed for swept in done if swept is not None) == 12
    assert len(world.engine.started) == 12


async def test_a_sweeper_that_died_holds_its_part_for_a_while_only(world: World) -> None:
    leases, until = TableLeases(world.ledger.store), timedelta(seconds=180)
    assert await leases.take("sweep-0-of-2", world.now, world.now + until, world.now)
    world.pass_time(60)
    assert await sweep_part(world.ports, Sweep(0, 2, world.now)) is None
    world.pass_time(121)
    assert await sweep_part(world.ports, Sweep(0, 2, world.now)) is not None


async def test_a_clock_that_was_wrong_stops_no_part(world: World) -> None:
    ahead = world.now + timedelta(days=1)
    leases = TableLeases(world.ledger.store)
    assert await leases.take("sweep-0-of-2", ahead, ahead + timedelta(seconds=180), ahead)
    assert await sweep_part(world.ports, Sweep(0, 2, world.now)) is not None


async def test_who_lost_the_lease_does_not_release_it_for_another(world: World) -> None:
    leases, now, until = TableLeases(world.ledger.store), world.now, timedelta(seconds=180)
    mine = await leases.take("x", now, now + until, now)
    assert mine is not None
    later = now + 2 * until
    assert await leases.take("x", later, later + until, later)
    await leases.release("x", mine, now)
    assert await leases.take("x", later, later + until, later + until) is None


@pytest.mark.parametrize(("part", "of"), [(2, 2), (-1, 2), (0, 5), (0, 0)])
async def test_a_part_that_there_is_not_is_swept_by_nobody(world: World, part: int, of: int) -> None:
    await running(world)
    await message_arrived(world.ports, sweep_message(part, of, world.now).encode(), "forged")
    assert await states(world) == {JobState.QUEUED}


@pytest.mark.parametrize(
    "data", ['{"part": 0}', '{"part": [], "of": 1, "at": "2026-01-01T00:00:00+00:00"}', "[]"]
)
async def test_an_order_that_cannot_be_read_is_ignored(world: World, data: str) -> None:
    body = (
        f'{{"specversion": "1.0", "type": "io.slipway.sweep.v1", "source": "x", "id": "x", "data": {data}}}'
    )
    assert await message_arrived(world.ports, body.encode(), "forged") == []
    assert world.ledger.jobs == []


async def test_each_part_submits_its_share_of_what_may_be_at_work(world: World) -> None:
    world.policy(paused=True)
    for n in range(12):
        await world.message(job_json(), f"m{n}")
    world.ports = replace(world.ports, policy=replace(world.ports.policy, paused=False, max_active_jobs=4))
    for body in await ordered(world):
        await message_arrived(world.ports, body.encode(), "a")
    assert len(world.engine.started) == 4


async def test_an_order_whose_sweep_failed_is_done_when_it_comes_again(world: World) -> None:
    await running(world)
    order, unfinished = Sweep(0, 2, world.now), world.ledger.unfinished

    async def silent(shard: int, now: datetime) -> Unfinished:
        raise Unavailable("storage does not answer")

    world.ledger.unfinished = silent  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await sweep_part(world.ports, order)
    world.ledger.unfinished = unfinished  # type: ignore[method-assign]
    world.pass_time(30)

    assert await sweep_part(world.ports, order) is not None
    assert await sweep_part(world.ports, order) is None
