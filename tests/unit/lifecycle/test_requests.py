"""How many storage requests a job costs. Counts do not drift with the machine, so they are asserted."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.rows import shard_of
from shared.adapters.storage.table import Operation, Range, Row, VersionedRow
from shared.core.engine import Observation, Order
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState, Target
from shared.intake.arrive import blob_arrived
from shared.operate import listing
from shared.operate.common_waits import as_they_stand
from tests.breadth import size
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.lifecycle.test_push import push
from tests.unit.world import Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
#: What the queue costs beside: one put by the sender, one delete, and a receive that brings 32 messages.
QUEUE = 2 + 1 / 32
#: Rows in one answer of the table service.
_PAGE = 1000


async def _some_turns() -> None:
    """A request takes longer than what a job does between two of them."""
    for _ in range(4):
        await asyncio.sleep(0)


class Counted(MemoryTable):
    """A table that counts requests, and takes some turns of the loop for each, so that others may come."""

    def __init__(self, world: World) -> None:
        super().__init__(world.clock)
        self.requests: Counter[str] = Counter()

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.requests["get"] += 1
        await _some_turns()
        return await super().get(partition, row)

    async def rows(self, expected: Range) -> list[Row]:
        answer = await super().rows(expected)
        self.requests["page"] += max(1, -(-len(answer) // _PAGE))
        await _some_turns()
        return answer

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        self.requests["transaction"] += 1
        await _some_turns()
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
    # The record, its end, and that it was reported; and, every few seconds, whether submissions are paused.
    assert table.requests == {"transaction": 3, "get": 1}
    assert world.drops.receipt_files == {}
    assert world.queues.messages == []
    assert QUEUE + table.requests.total() < 7


@pytest.mark.long
async def test_four_hundred_jobs_cost_less_than_three_requests_each(world: World, table: Counted) -> None:
    world.use(engines=Engines(Instant()))
    await many(world, 400)

    assert len(world.events()) == 400
    assert table.requests.total() / 400 + QUEUE <= 2.7


@pytest.mark.long
async def test_jobs_whose_ends_are_pushed_cost_no_read(world: World, table: Counted) -> None:
    jobs = await many(world, 400)
    switch = table.requests["get"]
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    for at in range(0, 400, 50):
        await push(world, *jobs[at : at + 50])

    assert len(world.events()) == 400
    assert table.requests["get"] == switch
    notices = 8 * 3 / 400  # each is put, received and deleted
    assert table.requests.total() / 400 + QUEUE + notices <= 3.0


async def test_an_end_that_a_nodes_record_tells_costs_no_read_and_no_further_look(
    world: World, table: Counted
) -> None:
    (job,) = await many(world, 1)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    table.requests.clear()

    await blob_arrived(world.ports, "ends", f"{job}.1/result.json")

    assert len(world.events()) == 1
    assert table.requests == {"transaction": 2}  # the end, and that it was reported
    assert world.queues.messages == []


class Counting(MemoryEngine):
    """A cluster that counts how many jobs it is asked for at once."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[int] = []

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        self.numbers.append(len(targets))
        return await super().status(cluster, targets)


@pytest.mark.long
async def test_a_pass_over_many_jobs_costs_pages_and_shared_writes_in_a_process_that_remembers_nothing(
    world: World, table: Counted
) -> None:
    active, changed = size(10_000, 1_200), 200
    targets = await queued(world, active)
    world.engine = engine = Counting()
    engine.jobs = {target.name: Observation(JobState.QUEUED) for target in targets}
    world.use(engines=Engines(engine))
    await world.make_pass()  # asks who wants no events any more, which is done every few minutes
    table.requests.clear()
    engine.numbers.clear()

    await world.make_pass()
    pages = sum(-(-rows // _PAGE) for rows in _by_shard(world).values())
    assert engine.numbers == [active]
    assert table.requests == {"page": pages}  # index, records and due events are one range
    lists = -(-active // _PAGE)  # what an engine needs for them
    assert pages + lists <= 25

    table.requests.clear()
    for target in targets[:changed]:
        engine.set_state(target.name, JobState.RUNNING)
    assert (await world.make_pass()).changed == changed
    by_shard = Counter(shard_of(target.token, world.ledger.shards) for target in targets[:changed])
    writes = sum(-(-2 * rows // 100) for rows in by_shard.values())  # each also in the list of all jobs
    assert table.requests == {"page": pages, "transaction": writes}


async def queued(world: World, number: int) -> list[Target]:
    """Jobs that another process submitted: so many, that they are put straight into the table."""
    created = []
    for n in range(number):
        identity = job_id(str(n), 1)
        target = Target(engine="memory", cluster="dev", experiment="e", name=f"n{n}", token=identity)
        entry = Entry(sequence=1, state=JobState.QUEUED, at=world.now, token=f"t{n}")
        job = Job(
            id=identity,
            key="k",
            payload="p",
            door="queue",
            name="n",
            experiment="e",
            cluster="dev",
            state=JobState.QUEUED,
            created=world.now,
            due=world.now,
            target=target,
            history=(entry,),
        )
        created.append((target, job))
    other = MemoryLedger(world.clock, table=world.ledger.table)
    await asyncio.gather(*(other.create(job, None, None) for _, job in created))
    return [target for target, _ in created]


def _by_shard(world: World) -> Counter[str]:
    return Counter(key[0] for key in world.ledger.table.held if key[1].startswith("n|"))  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", [{}, {"since": "1d"}, {"state": "active"}, {"state": "queued"}])
async def test_a_page_with_what_its_jobs_wait_for_costs_a_request_a_shard_and_one(
    world: World, table: Counted, query: dict[str, str]
) -> None:
    for n in range(60):
        await world.message(job_json(), f"m{n}")
    world.pass_time(60)
    shards = world.ledger.store.shards
    await listing.jobs(world.ports, query)  # opened: that costs once a process
    world.pass_time(60)
    table.requests.clear()

    page = await listing.jobs(world.ports, {**query, "limit": "50"})
    await as_they_stand(world.ports, page.jobs)

    assert len(page.jobs) == 50
    assert table.requests.total() <= shards + 1
