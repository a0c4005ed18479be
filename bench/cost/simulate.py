"""What jobs, passes and archiving ask of storage: the real code over ports in memory that count.

Counts are exact and the same on every machine; `bench.cost.scale` makes money and limits of them.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.job import SPEC
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import Operation, Range, Row, VersionedRow
from shared.core.engine import Observation
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState, Target
from shared.core.messages import ended_message
from shared.intake.arrive import message_arrived
from shared.lifecycle.archive import archive
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World

#: Rows in one answer of the table service.
PAGE = 1_000
_HOOK = {"url": "https://hooks.example.com/slipway", "events": ["succeeded", "failed"]}


class _Table(MemoryTable):
    """A table that counts; each request takes a turn of the loop, so that others may join its transaction."""

    def __init__(self, world: World) -> None:
        super().__init__(world.clock)
        self.requests: Counter[str] = Counter()
        self.entities = 0

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.requests["reads"] += 1
        await asyncio.sleep(0)
        return await super().get(partition, row)

    async def rows(self, range_: Range) -> list[Row]:
        entities = await super().rows(range_)
        self.requests["reads"] += max(1, -(-len(entities) // PAGE))
        await asyncio.sleep(0)
        return entities

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        self.requests["transactions"] += 1
        self.entities += len(operations)
        await asyncio.sleep(0)
        return await super().transact(operations)


@dataclass(frozen=True)
class Usage:
    """What something asks of the table, and how many messages it sends by itself."""

    reads: float
    transactions: float
    entities: float
    messages: float = 0.0

    @property
    def requests(self) -> float:
        """Each of which is billed."""
        return self.reads + self.transactions


class Simulation:
    """One deployment in memory, by one process."""

    def __init__(self, shards: int) -> None:
        self.world = World()
        self.world.policy(receipts=False)
        self.table = _Table(self.world)
        ledger = MemoryLedger(self.world.clock, shards, self.table)
        self.world.use(
            ledger=ledger, outbox=TableOutbox(ledger.store), finished=TableFinishedJobs(ledger.store)
        )

    async def jobs(self, number: int, at_once: int) -> Usage:
        """For a job that arrives by message, is submitted, and whose end is pushed and reported."""
        await self.world.ports.ledger.active(0)  # the table is opened once a process
        self._begin()
        gate, numbers = asyncio.Semaphore(at_once), itertools.count()

        async def one() -> None:
            async with gate:
                job = await self.world.message({"spec": SPEC, "notify": [_HOOK]}, f"m{next(numbers)}")
                self.world.engine.set_state(_name(job.job), JobState.SUCCEEDED)
                await self._push(job.job.id)

        await asyncio.gather(*(one() for _ in range(number)))
        assert len(self.world.webhooks.posts) == number
        return self._usage(number)

    async def archived(self, number: int) -> Usage:
        """For each of these jobs, when its retention is over."""
        self.world.pass_time(self.world.ports.policy.retention.total_seconds() + 60)
        self._begin()
        assert (await archive(self.world.ports)).jobs == number
        return self._usage(number)

    async def make_pass(self, active: int) -> Usage:
        """Requests of one pass over `active` jobs, none of which has changed."""
        other = MemoryLedger(self.world.clock, self.world.ports.ledger.shards, self.table)
        jobs = [_queued(n) for n in range(active)]
        for at in range(0, active, PAGE):
            await asyncio.gather(*(other.create(job, None, None) for job in jobs[at : at + PAGE]))
        names = (_name(job) for job in jobs)
        self.world.engine = MemoryEngine(jobs=dict.fromkeys(names, Observation(JobState.QUEUED)))
        self.world.use(engines=Engines(self.world.engine))
        await self.world.make_pass()  # the first one asks who wants no more events
        self._begin()
        await self.world.make_pass()
        return self._usage(1)

    async def _push(self, job: str) -> None:
        await message_arrived(self.world.ports, ended_message([job]).encode(), "push")

    def _begin(self) -> None:
        self.table.requests.clear()
        self.table.entities = 0
        self.world.queues.messages.clear()

    def _usage(self, number: int) -> Usage:
        requests = self.table.requests
        return Usage(
            reads=requests["reads"] / number,
            transactions=requests["transactions"] / number,
            entities=self.table.entities / number,
            messages=len(self.world.queues.messages) / number,
        )


def _name(job: Job) -> str:
    assert job.target is not None
    return job.target.name


def _queued(number: int) -> Job:
    now, identity = datetime(2026, 1, 1, tzinfo=UTC), job_id(f"active {number}", 1)
    name = f"job-{number}"
    return Job(
        id=identity,
        key="k",
        payload="p",
        door="queue",
        name=name,
        experiment="e",
        cluster="dev",
        state=JobState.QUEUED,
        created=now,
        due=now,
        target=Target(engine="memory", cluster="dev", experiment="e", name=name, token=identity),
        history=(Entry(sequence=1, state=JobState.QUEUED, at=now, token=name),),
    )
