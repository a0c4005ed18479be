"""Finished jobs in the table, and the archive in blobs, over the service (Azurite) and memory."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from local.azurite import Azurite
from shared.adapters.storage.archive import BlobArchive
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.errors import Exists
from shared.core.job import Job, JobState
from shared.core.ledger.finished_jobs import (
    Archive,
    FinishedJobs,
    LineLocation,
    finished_of,
    line_locations,
    line_of,
    tombstone,
)
from shared.core.ledger.ledger import Ledger
from shared.core.ledger.listing import Query
from tests.contract.test_ledger import ANY, make, moved
from tests.doubles.memory import MemoryArchive, MemoryLedger

LATER = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["memory", "table"])
async def account(request: pytest.FixtureRequest, storage: Azurite) -> AsyncIterator[Account | None]:
    if request.param == "memory":
        yield None
        return
    account = Account(Connection(storage.connection_string))
    yield account
    await account.close()


@pytest.fixture
def store(account: Account | None) -> ShardedTable:
    if account is None:
        return MemoryLedger(lambda: datetime.now(UTC)).store
    return ShardedTable(RestTable(account, f"t{uuid.uuid4().hex[:20]}"), 4)


@pytest.fixture
def ledger(store: ShardedTable) -> Ledger:
    return TableLedger(store)


@pytest.fixture
def finished(store: ShardedTable) -> FinishedJobs:
    return TableFinishedJobs(store)


@pytest.fixture
def archive(account: Account | None) -> Archive:
    return MemoryArchive() if account is None else BlobArchive(account, f"c{uuid.uuid4().hex[:20]}")


async def ended(ledger: Ledger, store: ShardedTable, key: str = "k") -> Job:
    stored = await ledger.create(make(key, notify=(ANY,)), {"properties": {"nodeCount": 1}}, None)
    change = moved(stored, JobState.CANCELLED)
    (after,) = await ledger.commit([change])
    assert after is not None
    if change.notice is not None:
        reports = tuple(one.model_copy(update={"state": "delivered"}) for one in change.notice.deliveries)
        await TableOutbox(store).settle(change.notice.model_copy(update={"deliveries": reports}))
    return after.job


async def due(finished: FinishedJobs, before: datetime = LATER, limit: int = 10) -> list[str]:
    result = [
        key for shard in range(finished.shards) for key in await finished.due_jobs(shard, before, limit)
    ]
    return [key.rpartition("|")[2] for key in result]


async def test_a_job_is_due_from_its_end_and_the_rest_of_it_leaves_with_the_record(
    ledger: Ledger, finished: FinishedJobs, store: ShardedTable
) -> None:
    job = await ended(ledger, store)
    assert await due(finished, job.history[-1].at - timedelta(seconds=1)) == []
    assert await due(finished) == [job.id]

    result = await finished.gather(job.id)
    assert result is not None
    assert (result.job, result.spec, len(result.events)) == (job, {"properties": {"nodeCount": 1}}, 1)
    grave = tombstone(job, LineLocation("a", 0, 1))
    assert await finished.entomb(result, grave)
    assert await finished.entomb(result, grave)  # our own write, whose answer was lost
    assert not await finished.entomb(result, tombstone(job, LineLocation("b", 0, 1)))

    assert await due(finished) == []
    assert await finished.gather(job.id) is None
    assert await ledger.spec(job.id) is None
    assert await TableOutbox(store).events(job.id) == []
    stored = await ledger.get(job.id)
    assert stored is not None
    assert (stored.job, stored.stored) == (grave, result.stored.stored)
    page = await ledger.find(Query(), limit=5, after=None)
    assert page.jobs == ()
    with pytest.raises(Exists):
        await ledger.create(make(), {}, None)


async def test_a_tombstone_never_takes_the_place_of_another_one(
    ledger: Ledger, finished: FinishedJobs, store: ShardedTable
) -> None:
    """Of two runs that archive a job, one wins, also where its rows go in transactions of their own."""
    job = await ended(ledger, store)
    result = await finished.gather(job.id)
    assert result is not None
    many = replace(result, events=result.events * 90)

    first, second = (tombstone(job, LineLocation(name, 0, 1)) for name in "ab")
    assert await finished.entomb(many, first)
    assert not await finished.entomb(many, second)

    stored = await ledger.get(job.id)
    assert stored is not None
    assert stored.job == first


async def test_due_jobs_come_oldest_first_and_no_more_than_asked_for(
    ledger: Ledger, finished: FinishedJobs, store: ShardedTable
) -> None:
    jobs = {(await ended(ledger, store, f"k{n}")).id for n in range(12)}
    assert set(await due(finished)) == jobs
    assert len(await due(finished, limit=1)) <= finished.shards


async def test_a_line_is_read_by_its_place(
    ledger: Ledger, finished: FinishedJobs, store: ShardedTable, archive: Archive
) -> None:
    result = [await finished.gather((await ended(ledger, store, key)).id) for key in ("é", "b")]
    lines = [line_of(one) for one in result if one is not None]
    at = line_locations(3, lines, LATER)
    assert await archive.read(at[0]) is None
    for _ in range(2):
        await archive.put(at[0].name, b"".join(lines))
    for one, place in zip(result, at, strict=True):
        line = await archive.read(place)
        assert line is not None
        assert one is not None
        assert (finished_of(line).job, finished_of(line).events) == (one.job, one.events)
