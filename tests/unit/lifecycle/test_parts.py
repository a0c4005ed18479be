"""A sweep that is handed out: each part by one process, twice by no one, and by everyone without harm."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from shared.adapters.storage.leases import TableLeases
from shared.adapters.storage.rows import shard_of
from shared.core.errors import Unavailable
from shared.core.job import JobState
from shared.core.ledger.records import Active, Unfinished
from shared.core.messages import SweepPart, sweep_message
from shared.core.pacing.memo import Memo
from shared.intake.arrive import message_arrived
from shared.lifecycle.parts import begin, sweep_part
from shared.lifecycle.sweep import sweep
from tests.doubles.memory import MemoryLedger
from tests.unit.world import World, job_json


@pytest.fixture
def world() -> World:
    world = World()
    world.policy(sweep_parts=2)
    return world


async def running(world: World, number: int = 12) -> None:
    for n in range(number):
        await world.message(job_json(), f"m{n}")
    for name in world.engine.started:
        world.engine.set_state(name, JobState.RUNNING)


async def ordered(world: World) -> list[str]:
    world.pass_time(60)
    assert await begin(world.ports) is None
    messages = [body for _, body, _ in world.queues.messages]
    world.queues.messages.clear()
    return messages


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
    assert world.queues.messages == []
    assert not any(key[0] == "leases" for key in world.ledger.rows)


async def test_what_piled_up_counts_as_one(world: World) -> None:
    await running(world)
    old = [SweepPart(0, 2, world.now + timedelta(minutes=n)) for n in range(5)]
    world.pass_time(600)
    assert await sweep_part(world.ports, old[0]) is not None
    assert [await sweep_part(world.ports, one) for one in old] == [None] * 5
    world.pass_time(60)
    assert await sweep_part(world.ports, SweepPart(0, 2, world.now)) is not None


async def test_two_at_once_do_the_work_of_one(world: World) -> None:
    await running(world)
    done = await asyncio.gather(*(sweep_part(world.ports, SweepPart(0, 1, world.now)) for _ in range(4)))
    assert sum(swept.changed for swept in done if swept is not None) == 12
    assert len(world.engine.started) == 12


async def test_a_sweeper_that_died_holds_its_part_for_a_while_only(world: World) -> None:
    leases, until = TableLeases(world.ledger.store), timedelta(seconds=180)
    assert await leases.take("sweep-0-of-2", world.now, world.now + until, world.now)
    world.pass_time(60)
    assert await sweep_part(world.ports, SweepPart(0, 2, world.now)) is None
    world.pass_time(121)
    assert await sweep_part(world.ports, SweepPart(0, 2, world.now)) is not None


async def test_a_clock_that_was_wrong_stops_no_part(world: World) -> None:
    ahead = world.now + timedelta(days=1)
    leases = TableLeases(world.ledger.store)
    assert await leases.take("sweep-0-of-2", ahead, ahead + timedelta(seconds=180), ahead)
    assert await sweep_part(world.ports, SweepPart(0, 2, world.now)) is not None


async def test_who_lost_the_lease_does_not_release_it_for_another(world: World) -> None:
    leases, now, until = TableLeases(world.ledger.store), world.now, timedelta(seconds=180)
    mine = await leases.take("x", now, now + until, now)
    assert mine is not None
    later = now + 2 * until
    assert await leases.take("x", later, later + until, later)
    await leases.release("x", mine, now)
    assert await leases.take("x", later, later + until, later + until) is None


@pytest.mark.parametrize(("part", "owner"), [(2, 2), (-1, 2), (0, 5), (0, 0)])
async def test_a_part_that_there_is_not_is_swept_by_no_one(world: World, part: int, owner: int) -> None:
    await running(world)
    await message_arrived(world.ports, sweep_message(part, owner, world.now).encode(), "forged")
    assert await states(world) == {JobState.QUEUED}


@pytest.mark.parametrize(
    "data", ['{"part": 0}', '{"part": [], "of": 1, "at": "2026-01-01T00:00:00+00:00"}', "[]"]
)
async def test_an_order_that_cannot_be_read_is_rejected_and_sweeps_nothing(world: World, data: str) -> None:
    body = (
        f'{{"specversion": "1.0", "type": "io.slipway.sweep.v1", "source": "x", "id": "x", "data": {data}}}'
    )
    (rejected,) = await message_arrived(world.ports, body.encode(), "forged")
    assert [one.state for one in world.ledger.jobs] == [JobState.REJECTED]
    assert rejected.job.id == world.ledger.jobs[0].id


async def test_each_part_submits_its_share_of_what_may_be_at_work(world: World) -> None:
    world.policy(paused=True)
    for n in range(12):
        await world.message(job_json(), f"m{n}")
    world.ports = replace(world.ports, policy=replace(world.ports.policy, paused=False, max_active_jobs=4))
    for body in await ordered(world):
        await message_arrived(world.ports, body.encode(), "a")
    assert len(world.engine.started) == 4


async def test_a_message_whose_sweep_failed_is_done_when_it_comes_again(world: World) -> None:
    await running(world)
    message, unfinished = SweepPart(0, 2, world.now), world.ledger.unfinished

    async def silent(shard: int, now: datetime, longest: timedelta) -> Unfinished:
        raise Unavailable("storage does not answer")

    world.ledger.unfinished = silent  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await sweep_part(world.ports, message)
    world.ledger.unfinished = unfinished  # type: ignore[method-assign]
    world.pass_time(30)

    assert await sweep_part(world.ports, message) is not None
    assert await sweep_part(world.ports, message) is None


async def test_a_part_that_is_well_does_not_hide_that_another_one_fails(world: World) -> None:
    await running(world)
    unfinished = world.ledger.unfinished

    async def half(shard: int, now: datetime, longest: timedelta) -> Unfinished:
        if shard < 2:
            raise Unavailable("storage does not answer")
        return await unfinished(shard, now, longest)

    world.ledger.unfinished = half  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await sweep_part(world.ports, SweepPart(0, 2, world.now))
    await sweep_part(world.ports, SweepPart(2, 4, world.now))

    assert world.ports.troubles.counts() == {"sweep": 1}


class Turns(MemoryLedger):
    """Storage that lets others come while it answers, and counts who looks at what is at work."""

    looks = 0

    async def active(self, shard: int) -> list[Active]:
        self.looks += 1
        answer = await super().active(shard)
        await asyncio.sleep(0)
        return answer


async def of_part(part: int, number: int) -> list[str]:
    """Ids of messages whose jobs are in one part of two."""
    scratch, result = World(), []
    scratch.policy(paused=True)
    for n in range(100):
        job = (await scratch.message(job_json(), f"m{n}")).job
        if shard_of(job.id, scratch.ledger.shards) % 2 == part:
            result.append(f"m{n}")
    return result[:number]


async def wait_for_their_turn(world: World, ids: list[str]) -> None:
    """Jobs that were accepted during a pause, which is over."""
    world.policy(paused=True)
    for message_id in ids:
        await world.message(job_json(), message_id)
    world.policy(paused=False)


async def sweep_parts(world: World, owner: int, *, processes: bool) -> None:
    """Every part, one after the other: each by a process of its own, or all by one."""
    for part in range(owner):
        if processes:
            world.use(memo=Memo())
        await sweep_part(world.ports, SweepPart(part, owner, world.now))


@pytest.mark.parametrize("processes", [True, False])
async def test_a_part_submits_nothing_where_the_jobs_of_another_fill_the_limit(
    world: World, processes: bool
) -> None:
    world.policy(max_active_jobs=4)
    for message_id in await of_part(0, 4):
        await world.message(job_json(), message_id)
    await wait_for_their_turn(world, await of_part(1, 6))
    for _ in range(2):
        world.pass_time(60)
        await sweep_parts(world, 2, processes=processes)
    assert len(world.engine.started) == 4

    for name in world.engine.started[:3]:
        world.engine.set_state(name, JobState.SUCCEEDED)
    for _ in range(2):
        world.pass_time(60)
        await sweep_parts(world, 2, processes=processes)
    assert len(world.engine.started) == 4 + 2  # its share, though three have ended


@pytest.mark.parametrize("processes", [True, False])
async def test_more_parts_than_may_be_at_work_submit_no_more_than_that(world: World, processes: bool) -> None:
    world.policy(max_active_jobs=1)
    await wait_for_their_turn(world, [f"m{n}" for n in range(24)])
    await sweep_parts(world, 4, processes=processes)
    assert len(world.engine.started) == 1


async def test_parts_that_one_process_sweeps_at_once_keep_the_limit(world: World) -> None:
    world.use(ledger=Turns(world.clock))
    world.policy(max_active_jobs=1)
    await wait_for_their_turn(world, [f"m{n}" for n in range(24)])
    await asyncio.gather(*(sweep_part(world.ports, SweepPart(part, 4, world.now)) for part in range(4)))
    assert len(world.engine.started) == 1


async def test_a_process_looks_once_at_what_is_at_work_and_only_where_it_has_to(world: World) -> None:
    world.use(ledger=(ledger := Turns(world.clock)))
    await running(world)
    await wait_for_their_turn(world, [f"w{n}" for n in range(12)])
    ledger.looks = 0
    await sweep_parts(world, 2, processes=False)
    assert (len(world.engine.started), ledger.looks) == (24, ledger.shards)

    world.pass_time(60)
    await sweep_parts(world, 2, processes=False)
    assert ledger.looks == ledger.shards  # nothing waits

    await wait_for_their_turn(world, [f"x{n}" for n in range(12)])
    await sweep(world.ports)
    assert (len(world.engine.started), ledger.looks) == (36, ledger.shards)  # one part has read them all
