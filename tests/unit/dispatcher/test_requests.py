"""How many storage requests a job costs. Counts do not drift with the machine, so they are asserted."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from shared.engines.memory import MemoryEngine
from shared.job import JobState
from shared.memory import MemoryLedger, MemoryTable
from shared.ports import Observation, Order
from shared.storage.outbox import TableOutbox
from shared.storage.table import Found, Operation, Range, Row
from tests.unit.dispatcher.test_push import push
from tests.unit.dispatcher.world import Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
#: What the queue costs beside: one put by the sender, one delete, and a receive that brings 32 messages.
QUEUE = 2 + 1 / 32
#: Rows in one answer of the table service.
_PAGE = 1000


class Counted(MemoryTable):
    """A table that counts requests, and takes one turn of the loop for each, so that others may come."""

    def __init__(self, world: World) -> None:
        super().__init__(world.clock)
        self.requests: Counter[str] = Counter()

    async def get(self, partition: str, row: str) -> Found | None:
        self.requests["get"] += 1
        await asyncio.sleep(0)
        return await super().get(partition, row)

    async def rows(self, wanted: Range) -> list[Row]:
        found = await super().rows(wanted)
        self.requests["page"] += max(1, -(-len(found) // _PAGE))
        await asyncio.sleep(0)
        return found

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        self.requests["transaction"] += 1
        await asyncio.sleep(0)
        return await super().transact(operations)


class Instant(MemoryEngine):
    """Every job has ended when it is submitted."""

    async def submit(self, order: Order) -> Observation | None:
        await super().submit(order)
        return Observation(JobState.SUCCEEDED, exit_code=0)


@pytest.fixture
async def table(world: World) -> Counted:
    counted = Counted(world)
    world.ledger = MemoryLedger(world.clock, table=counted)
    world.use(ledger=world.ledger, outbox=TableOutbox(world.ledger.store))
    world.policy(receipts=False)
    await world.ledger.active(0)  # opened: that costs once a process
    counted.requests.clear()
    return counted


async def many(world: World, number: int, at_once: int = 32) -> list[str]:
    """As a host hands them out: so many at once."""
    gate, numbers = asyncio.Semaphore(at_once), itertools.count()

    async def one() -> str:
        async with gate:
            accepted = await world.message({"spec": job_json(), "notify": [HOOK]}, f"m{next(numbers)}")
            return accepted.job.id

    return list(await asyncio.gather(*(one() for _ in range(number))))


async def test_one_job_in_an_idle_system_costs_three_transactions_and_a_look_at_the_switch(
    world: World, table: Counted
) -> None:
    world.use(engines=Engines(Instant()))
    await world.message({"spec": job_json(), "notify": [HOOK]})

    assert len(world.events()) == 1
    # The record, its end, and that it was told; and, every few seconds, whether submissions are paused.
    assert table.requests == {"transaction": 3, "get": 1}
    assert world.drops.answers == {}
    assert world.queues.sent == []
    assert QUEUE + table.requests.total() < 7


async def test_four_hundred_jobs_cost_less_than_three_requests_each(world: World, table: Counted) -> None:
    world.use(engines=Engines(Instant()))
    await many(world, 400)

    assert len(world.events()) == 400
    assert table.requests.total() / 400 + QUEUE <= 2.7


async def test_jobs_whose_ends_are_pushed_cost_no_read(world: World, table: Counted) -> None:
    jobs = await many(world, 400)
    switch = table.requests["get"]
    for name in world.engine.started:
        world.engine.turn(name, JobState.SUCCEEDED)
    for at in range(0, 400, 50):
        await push(world, *jobs[at : at + 50])

    assert len(world.events()) == 400
    assert table.requests["get"] == switch
    notices = 8 * 3 / 400  # each is put, received and deleted
    assert table.requests.total() / 400 + QUEUE + notices <= 3.0


async def test_a_sweep_of_two_thousand_costs_pages_and_shared_writes(world: World, table: Counted) -> None:
    asked: list[int] = []

    class Counting(MemoryEngine):
        async def status(self, cluster: str, targets: Sequence[Any]) -> Any:
            asked.append(len(targets))
            return await super().status(cluster, targets)

    world.engine = engine = Counting()
    world.use(engines=Engines(engine))
    active = 2_000  # the calls are pages: ten thousand differ from it by a factor, which takes longer to make
    await many(world, active, at_once=200)
    await world.sweep()
    table.requests.clear()
    asked.clear()

    await world.sweep()
    assert asked == [active]
    pages = sum(-(-rows // _PAGE) for rows in _by_shard(world))
    assert table.requests == {"page": pages + world.ledger.shards}  # the index, and the outbox

    table.requests.clear()
    changed = active // 50
    for name in engine.started[:changed]:
        engine.turn(name, JobState.RUNNING)
    await world.sweep()
    assert table.requests["get"] == 0
    assert table.requests["transaction"] <= 2 * world.ledger.shards


def _by_shard(world: World) -> list[int]:
    shards = Counter(key[0] for key in world.ledger.table.held if key[1].startswith("a|"))  # type: ignore[attr-defined]
    return list(shards.values())
