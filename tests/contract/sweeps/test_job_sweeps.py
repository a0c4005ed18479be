"""The records of job sweeps: one suite over the service (Azurite) and memory."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from local.azurite import Azurite
from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.errors import Exists
from shared.core.identity import job_id
from shared.core.job import JobState, Receiver
from shared.core.job_sweeps.record import JobSweep, sweep_id
from shared.core.job_sweeps.view import notice_of_end
from tests.doubles.memory import MemoryLedger
from tests.unit.recorded import job_of

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEMPLATE = {"properties": {"nodeCount": 1}}


@pytest.fixture(params=["memory", "table"])
async def store(request: pytest.FixtureRequest, storage: Azurite) -> AsyncIterator[ShardedTable]:
    if request.param == "memory":
        yield MemoryLedger(lambda: datetime.now(UTC)).store
        return
    account = Account(Connection(storage.connection_string))
    yield ShardedTable(RestTable(account, f"t{uuid.uuid4().hex[:20]}"), 4)
    await account.close()


def _sweep(key: str = "k") -> JobSweep:
    return JobSweep(
        id=sweep_id(key),
        key=key,
        payload="p",
        door="http",
        source="http:",
        name="tune",
        experiment="tune",
        notify=(Receiver(url="https://hooks.example.com"),),
        parameters={"lr": [0.1, 1, "a", True]},
        total=4,
        parallel=2,
        created=NOW,
    )


async def _open(store: ShardedTable) -> list[str]:
    ledger = TableLedger(store)
    answers = [await ledger.unfinished(n, NOW, timedelta(hours=30)) for n in range(ledger.shards)]
    return [one for answer in answers for one in answer.sweeps]


async def test_a_sweep_is_recorded_once_and_named_until_it_has_ended(store: ShardedTable) -> None:
    port, sweep = TableJobSweeps(store), _sweep()

    stored = await port.create(sweep, TEMPLATE)
    other = await port.create(sweep.model_copy(update={"payload": "other"}), TEMPLATE)

    assert stored.sweep == sweep
    assert (other.sweep, other.etag) == (sweep, stored.etag)
    assert await port.get(sweep.id) == stored
    assert await port.template(sweep.id) == TEMPLATE
    assert await _open(store) == [sweep.id]
    assert await port.get(sweep_id("unknown")) is None


async def test_a_claim_and_the_record_of_a_job_keep_each_other_out(store: ShardedTable) -> None:
    port, ledger, mine, other = TableJobSweeps(store), TableLedger(store), sweep_id("k"), sweep_id("other")
    claimed, job = job_of(id=job_id("k", 1)), job_of(id=job_id("k", 2))
    await ledger.create(job, None, None)

    assert await port.claim(mine, claimed.id)
    assert await port.claim(mine, claimed.id), "a claim may be repeated"
    assert not await port.claim(other, claimed.id)
    assert not await port.claim(mine, job.id)
    with pytest.raises(Exists):
        await ledger.create(claimed, None, None)

    assert await ledger.get(claimed.id) is None
    assert await port.claimant(claimed.id) == mine
    assert await port.claimant(job.id) is None
    assert await port.claimant(job_id("k", 3)) is None


async def test_only_one_of_two_writers_of_a_version_succeeds(store: ShardedTable) -> None:
    port, sweep = TableJobSweeps(store), _sweep()
    stored = await port.create(sweep, TEMPLATE)

    first = await port.change(stored, sweep.with_seats([0, 1, 2]))
    second = await port.change(stored, sweep.with_seats([3]))

    assert first is not None
    assert second is None
    now = await port.get(sweep.id)
    assert now == first
    assert now.sweep.seats == (0, 1)


async def test_the_end_is_one_write_with_its_event(store: ShardedTable) -> None:
    port, sweep = TableJobSweeps(store), _sweep()
    stored = await port.create(sweep, TEMPLATE)
    ends = dict.fromkeys(range(4), JobState.SUCCEEDED)
    after = sweep.after_ends(ends).model_copy(update={"recorded_jobs": 4, "ended": NOW})
    notice = notice_of_end(after, at=NOW, source="urn:slipway", due=NOW, pull=False)
    assert notice is not None

    ended = await port.end(stored, after, notice)
    again = await port.end(stored, after, notice)

    assert ended is not None
    assert again is None
    assert (await port.get(sweep.id)) == ended
    assert ended.sweep.counts == {JobState.SUCCEEDED: 4}
    assert await port.template(sweep.id) is None
    assert await _open(store) == []
    assert await TableOutbox(store).notice(sweep.id, 1) == notice


async def _ended(port: TableJobSweeps, key: str = "k", *, at: datetime = NOW, event: bool = True) -> JobSweep:
    """A sweep that has ended, of which the event, if it has one, is on its way."""
    sweep = _sweep(key)
    stored = await port.create(sweep, TEMPLATE)
    after = sweep.after_ends(dict.fromkeys(range(4), JobState.FAILED))
    after = after.model_copy(update={"recorded_jobs": 4, "ended": at})
    notice = notice_of_end(after, at=at, source="urn:slipway", due=at, pull=False) if event else None
    assert await port.end(stored, after, notice)
    return after


async def _due(store: ShardedTable, before: datetime) -> list[str]:
    port = TableJobSweeps(store)
    return [key.rpartition("|")[2] for n in range(store.shards) for key in await port.due(n, before, 10)]


async def test_a_sweep_is_due_for_the_archive_once_it_has_ended_before_that(store: ShardedTable) -> None:
    sweep = await _ended(TableJobSweeps(store))

    assert await _due(store, NOW) == []
    assert await _due(store, NOW + timedelta(milliseconds=1)) == [sweep.id]


async def test_a_sweep_whose_event_is_on_its_way_is_not_archived(store: ShardedTable) -> None:
    port = TableJobSweeps(store)
    sweep = await _ended(port)

    assert await port.gather(sweep.id) is None
    assert await port.gather(sweep_id("unknown")) is None


async def test_a_tombstone_takes_the_place_of_the_record_and_of_all_its_rows(store: ShardedTable) -> None:
    port = TableJobSweeps(store)
    sweep = await _ended(port, event=False)
    finished = await port.gather(sweep.id)
    assert finished is not None
    tombstone = sweep.tombstone("x.jsonl#0+1")

    assert await port.entomb(finished, tombstone)
    assert await port.entomb(finished, tombstone)  # the answer was lost
    assert not await port.entomb(finished, sweep.tombstone("y.jsonl#0+1"))

    stored = await port.get(sweep.id)
    assert stored is not None
    assert stored.sweep == tombstone
    assert await port.gather(sweep.id) is None
    assert await _due(store, NOW + timedelta(days=1)) == []


async def test_what_a_process_left_beside_a_tombstone_goes_with_the_next_look(store: ShardedTable) -> None:
    port = TableJobSweeps(store)
    sweep = await _ended(port, event=False)
    stored = await port.get(sweep.id)
    assert stored is not None
    assert await port.change(stored, sweep.tombstone("x.jsonl#0+1"))
    assert await _due(store, NOW + timedelta(days=1)) == [sweep.id]

    assert await port.gather(sweep.id) is None

    assert await _due(store, NOW + timedelta(days=1)) == []


async def _recent(store: ShardedTable, since: datetime) -> tuple[list[str], list[str]]:
    """The ids of the active sweeps, and of those that have ended since then."""
    port = TableJobSweeps(store)
    answers = [await port.recent(n, since) for n in range(store.shards)]
    ended = [key.rpartition("|")[2] for one in answers for key in one.ended]
    return [sweep for one in answers for sweep in one.active], ended


async def test_active_sweeps_and_those_that_ended_since_a_moment_are_named(store: ShardedTable) -> None:
    port, goes_on = TableJobSweeps(store), _sweep("other")
    await port.create(goes_on, TEMPLATE)
    ended = await _ended(port, event=False)

    assert await _recent(store, NOW - timedelta(days=1)) == ([goes_on.id], [ended.id])
    assert await _recent(store, NOW) == ([goes_on.id], [ended.id])
    assert await _recent(store, NOW + timedelta(milliseconds=1)) == ([goes_on.id], [])

    finished = await port.gather(ended.id)
    assert finished is not None
    assert await port.entomb(finished, ended.tombstone("x.jsonl#0+1"))
    assert await _recent(store, NOW) == ([goes_on.id], [])


async def test_of_many_that_ended_the_oldest_is_named_first(store: ShardedTable) -> None:
    port, names = TableJobSweeps(store), ("third", "first", "second")
    for name, days in zip(names, (3, 1, 2), strict=True):
        await _ended(port, name, at=NOW + timedelta(days=days), event=False)

    keys = [key for n in range(store.shards) for key in (await port.recent(n, NOW)).ended]
    of_shards = [(await port.recent(n, NOW)).ended for n in range(store.shards)]

    assert all(list(one) == sorted(one) for one in of_shards)
    order = [key.rpartition("|")[2] for key in sorted(keys)]
    assert order == [sweep_id(name) for name in ("first", "second", "third")]
