"""The ledger over a table: one transaction a transition, shared with others of the same partition.

If an answer is lost, the repeated request looks like a conflict. So every write puts a token of its own into
the record's history, which distinguishes our own write from another process's.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from shared.adapters.storage import other_rows, rows
from shared.adapters.storage.checks.check import check_rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.lists.ended import ended_since
from shared.adapters.storage.lists.listing import BOUNDS, Bounds, Listing
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Refused, Row
from shared.core.errors import Exists, Unreadable
from shared.core.job import Job, Stored
from shared.core.ledger.ended import EndedJobs
from shared.core.ledger.entries import Active, Change, DropMemo, Pause, Reported, Standing, Unfinished
from shared.core.ledger.listing import Page, Query
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject

#: How often the search for a record is repeated while it moves from row to row.
_LOOKS = 3
#: How many records a process remembers as it last wrote or read them.
_REMEMBERED = 4_000


class TableLedger:
    """The ledger port over one store."""

    def __init__(self, store: ShardedTable, bounds: Bounds = BOUNDS) -> None:
        """`bounds`: of one request for a list."""
        self._store = store
        self._shards = store.shards
        self._records: OrderedDict[str, Stored] = OrderedDict()
        self._listing = Listing(store, self._legible, bounds)

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        """One transaction: record, spec, index row, rows of lists, first event."""
        makers = (rows.record_row,) if job.state.terminal else (rows.active_row, rows.stub_row)
        new = [make(job, self._shards) for make in makers]
        new += listed.listed_rows(job, self._shards)
        new += [rows.spec_row(job.id, spec, self._shards)] if spec is not None else []
        new += [rows.notice_row(notice, self._shards)] if notice is not None else []
        try:
            etags = await self._store.write(job.id, *(Operation("create", row) for row in new))
        except Refused as refused:
            if refused.status == 409:
                return await self._existing(job)
            raise
        return self._remember(Stored(job, etags[0], None))

    async def get(self, job_id: str) -> Stored | None:
        """A point read for a job that has not ended; two for one that has ended or does not exist."""
        for _ in range(_LOOKS):
            for kind in "nj":
                row = await self._store.row(job_id, f"{kind}|{job_id}")
                if row is not None and not rows.is_stub(row.row):
                    job = self._store.read(row.row, rows.record_of)
                    stored = rows.stored_of(row.row, row.written)
                    return self._remember(Stored(job, row.etag, stored))
            if row is None or row.row.get("Sweep"):  # a sweep claimed its key
                self._records.pop(job_id, None)
                return None
        stub = rows.row_of(job_id, f"j|{job_id}", self._shards)
        raise self._store.spoiled(stub, "its index row is missing")

    async def recall(self, job_id: str) -> Stored | None:
        """From memory, else a point read."""
        return self._records.get(job_id) or await self.get(job_id)

    async def spec(self, job_id: str) -> JsonObject | None:
        """The accepted document of a job, in one point read."""
        row = await self._store.row(job_id, f"s|{job_id}")
        return self._store.read(row.row, rows.spec_of) if row is not None else None

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        """Each by itself; those of one shard share transactions."""
        if len(changes) == 1:  # the usual case, for which separate tasks would be a waste
            return [await self._commit(changes[0])]
        return list(await asyncio.gather(*(self._commit(change) for change in changes)))

    async def active(self, shard: int) -> list[Active]:
        """The active jobs of a shard, by one range query."""
        return self._store.legible(await self._store.range(shard, "n"), rows.active_of)

    async def unfinished(self, shard: int, now: datetime, longest: timedelta) -> Unfinished:
        """The active jobs, the events and the open job sweeps of a shard, by one range query."""
        entities = await self._store.rows(rows.unfinished(shard, now, longest))
        events, sweeps = (bisect_left(entities, kind, key=itemgetter("RowKey")) for kind in ("o|", "p|"))
        jobs = self._store.legible(entities[:events], rows.active_of)
        return Unfinished(
            jobs,
            self._store.legible(entities[events:sweeps], rows.notice_of_row),
            [str(row["RowKey"])[2:] for row in entities[sweeps:]],
            whole=len(jobs) == events,
        )

    async def find(self, query: Query, *, limit: int, after: str | None) -> Page:
        """One range query a shard, or some: see `listing`."""
        return await self._listing.find(query, limit, after)

    async def ended(self, since: datetime, most: int) -> EndedJobs:
        """One range query a shard, of some columns."""
        return await ended_since(self._store, since, most)

    async def recent(self, source: str, since: datetime, until: datetime) -> dict[str, datetime]:
        """Two range queries a shard, of keys and sources; the slot of a job counts more than its creation."""
        latest, columns = {"l": rows.listed(until), "t": ""}, ("RowKey", "Source")
        ranges = (
            Range(rows.partition(n), f"{kind}|{first}", f"{kind}|{rows.listed(since)}", select=columns)
            for kind, first in latest.items()
            for n in range(self._shards)
        )
        answers = await asyncio.gather(*(self._store.rows(each) for each in ranges))
        slots = self._store.legible((row for part in answers for row in part), listed.turn_of)
        return {job_id: moment for who, job_id, moment in slots if who == source}

    async def paused(self) -> Pause | None:
        """A point read. A pause that cannot be read counts as a pause: an operator may have set it."""
        row = await self._store.get(other_rows.PAUSE["PartitionKey"], other_rows.PAUSE["RowKey"])
        return self._pause(row.row) if row is not None else None

    def _pause(self, row: Row) -> Pause | None:
        try:
            return self._store.read(row, other_rows.pause_of)
        except Unreadable as error:
            return Pause(datetime.now(UTC), "unknown", f"{error}; pause or resume writes it again")

    async def pause(self, pause: Pause | None) -> None:
        """An upsert: off is a row, too."""
        await self._store.upsert(other_rows.pause_row(pause))

    async def report(self, reported: Reported) -> None:
        """Write the report of a pass over the last one, by an upsert."""
        await self._store.upsert(other_rows.trouble_row(reported))

    async def standing(self) -> Standing:
        """One range query over both."""
        entities = {str(row["RowKey"]): row for row in await self._store.rows(other_rows.STANDING)}
        pause = entities.get(other_rows.PAUSE["RowKey"])
        report = entities.get(other_rows.TROUBLES["RowKey"])
        legible = self._store.legible([report] if report else [], other_rows.troubles_of)
        return Standing(next(iter(legible), None), self._pause(pause) if pause else None)

    async def try_write(self) -> None:
        """A merge that changes no column."""
        await self._store.try_write()

    async def check(self, jobs: Collection[str], noted: Iterable[str]) -> None:
        """One range query a kind and partition, and point reads of what belongs to the jobs."""
        await check_rows(self._store, jobs, noted)

    async def drop_memo(self, path: str) -> DropMemo | None:
        """The memo of a dropped path, in one point read."""
        row = other_rows.drop_memo_row(DropMemo(path, {}, "", 1), self._shards)
        memo = await self._store.get(row["PartitionKey"], row["RowKey"])
        return self._store.perhaps(memo.row, other_rows.drop_memo_of) if memo is not None else None

    async def remember(self, memo: DropMemo) -> None:
        """An upsert; the last writer wins."""
        await self._store.upsert(other_rows.drop_memo_row(memo, self._shards))

    async def forget(self, path: str) -> None:
        """Delete the memo of a dropped path."""
        row = other_rows.drop_memo_row(DropMemo(path, {}, "", 1), self._shards)
        await self._store.drop(row["PartitionKey"], row["RowKey"])

    async def drop_memos(self) -> dict[str, DropMemo]:
        """One range query a partition of dropped paths."""
        ranges = (Range(f"d{shard:03d}", "", "") for shard in range(self._shards))
        answers = await asyncio.gather(*(self._store.rows(each) for each in ranges))
        memo = self._store.legible((row for part in answers for row in part), other_rows.drop_memo_of)
        return {one.path: one for one in memo}

    async def _commit(self, change: Change) -> Stored | None:
        job = change.transition.after
        if job.state.terminal:
            index = rows.row_of(job.id, f"n|{job.id}", self._shards)
            operations = [
                Operation("delete", index, change.stored.etag),
                Operation("replace", rows.record_row(job, self._shards)),
            ]
        else:
            operations = [Operation("merge", rows.active_row(job, self._shards), change.stored.etag)]
        operations += [Operation("upsert", row) for row in listed.shown_rows(job, self._shards)]
        if change.notice is not None:
            operations.append(Operation("create", rows.notice_row(change.notice, self._shards)))
        try:
            etags = await self._store.write(job.id, *operations)
        except Refused:
            existing = await self.get(job.id)
            return existing if existing is not None and existing.job.wrote(change.transition.token) else None
        return self._remember(Stored(job, etags[0], None))

    async def _legible(self, job_id: str) -> Stored | None:
        """Like `get`, but for a page, in which an unreadable record must not hide the others."""
        try:
            return await self.get(job_id)
        except Unreadable:
            return None

    async def _existing(self, job: Job) -> Stored:
        existing = await self.get(job.id)
        if existing is not None and existing.job.wrote(job.history[0].token):
            return existing
        raise Exists(job.id)

    def _remember(self, stored: Stored) -> Stored:
        self._records[stored.job.id] = stored
        self._records.move_to_end(stored.job.id)
        if stored.job.state.terminal:
            self._records.pop(stored.job.id)
        elif len(self._records) > _REMEMBERED:
            self._records.popitem(last=False)
        return stored
