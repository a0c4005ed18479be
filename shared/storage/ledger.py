"""The ledger over a table: one transaction a transition, shared with others of the same partition.

An answer that was lost looks like a conflict when the request is repeated. Every write carries a token of its
own in the record's history, so our own write is recognised instead of being taken for somebody else's.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime

from shared.errors import Exists, Misuse, SlipwayError, Unavailable
from shared.events import Notice
from shared.job import Job, JobState, Stored
from shared.ports import Active, Change, Page, Pause, Seen, Unfinished
from shared.spec import JsonObject
from shared.storage import other_rows, rows
from shared.storage.store import Store
from shared.storage.table import Operation, Range, Refused, Row

log = logging.getLogger(__name__)

#: How many pages of the listing one answer reads, when few of its jobs are wanted.
_PAGES = 10
#: How often a record is looked for that moves from row to row meanwhile.
_LOOKS = 3
#: Records that a process remembers as it last wrote or read them.
_REMEMBERED = 4_000


class TableLedger:
    """The ledger port over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shards = store.shards
        self._known: OrderedDict[str, Stored] = OrderedDict()

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        """One transaction: record, spec, index row, listing, first event."""
        made = (rows.record_row, rows.ended_row) if job.state.terminal else (rows.active_row, rows.stub_row)
        new = [make(job, self._shards) for make in made]
        new += rows.listed_rows(job, self._shards)
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
        """A point read of a job that has not ended; two of one that has, or that is not there."""
        for _ in range(_LOOKS):
            for kind in "nj":
                found = await self._store.row(job_id, f"{kind}|{job_id}")
                job = rows.record_in(found.row) if found is not None else None
                if found is not None and job is not None:
                    stored = rows.stored_of(found.row, found.written)
                    return self._remember(Stored(job, found.etag, stored))
            if found is None:
                self._known.pop(job_id, None)
                return None
        raise Unavailable(f"the record of {job_id} has no index row")

    async def recall(self, job_id: str) -> Stored | None:
        """From memory, else a point read."""
        return self._known.get(job_id) or await self.get(job_id)

    async def spec(self, job_id: str) -> JsonObject | None:
        """A point read."""
        found = await self._store.row(job_id, f"s|{job_id}")
        return rows.spec_of(found.row) if found is not None else None

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        """Each by itself; those of one shard share transactions."""
        if len(changes) == 1:  # as for nearly every job: a task of its own would be for nothing
            return [await self._commit(changes[0])]
        return list(await asyncio.gather(*(self._commit(change) for change in changes)))

    async def active(self, shard: int) -> list[Active]:
        """One range query."""
        return [rows.active_of(row) for row in await self._store.range(shard, "n")]

    async def unfinished(self, shard: int, now: datetime) -> Unfinished:
        """One range query."""
        found = await self._store.rows(rows.unfinished(shard, now))
        jobs = [rows.active_of(row) for row in found if row["RowKey"] < "o|"]
        return Unfinished(jobs, [event for row in found[len(jobs) :] if (event := _event(row)) is not None])

    async def find(self, *, states: frozenset[JobState] | None, limit: int, after: str | None) -> Page:
        """Merge the shards' listings; records are read by key, and one that cannot be read is left out."""
        if after is not None and not rows.LISTING_KEY.fullmatch(after):
            raise Misuse("`after` is not the `next` of a page", remedy="leave it out to start at the newest")
        found: list[Job] = []
        cursor = after
        for _ in range(_PAGES):
            keys = await self._listing(cursor, limit)
            if not keys:
                return Page(tuple(found))
            records = await asyncio.gather(*(self._legible(key.rpartition("|")[2]) for key in keys))
            for key, stored in zip(keys, records, strict=True):
                cursor = key
                if stored is not None and (states is None or stored.job.state in states):
                    found.append(stored.job)
                    if len(found) == limit:
                        return Page(tuple(found), cursor)
        return Page(tuple(found), cursor)

    async def recent(self, source: str, since: datetime) -> dict[str, datetime]:
        """Two range queries a shard, of keys and sources; the turn of a job counts more than its creation."""
        wanted = (
            Range(rows.partition(n), f"{kind}|", f"{kind}|{rows.listed(since)}", select=("RowKey", "Source"))
            for kind in "lt"
            for n in range(self._shards)
        )
        found = await asyncio.gather(*(self._store.rows(each) for each in wanted))
        keys = [str(row["RowKey"])[2:] for part in found for row in part if row["Source"] == source]
        return {key.rpartition("|")[2]: rows.moment_of(key) for key in keys}

    async def paused(self) -> Pause | None:
        """A point read."""
        found = await self._store.get(other_rows.PAUSE["PartitionKey"], other_rows.PAUSE["RowKey"])
        return other_rows.pause_of(found.row) if found is not None else None

    async def pause(self, pause: Pause | None) -> None:
        """An upsert: off is a row, too."""
        await self._store.upsert(other_rows.pause_row(pause))

    async def seen(self, path: str) -> Seen | None:
        """A point read."""
        row = other_rows.seen_row(Seen(path, {}, "", 1), self._shards)
        found = await self._store.get(row["PartitionKey"], row["RowKey"])
        return other_rows.seen_of(found.row) if found is not None else None

    async def remember(self, seen: Seen) -> None:
        """An upsert; the last writer wins."""
        await self._store.upsert(other_rows.seen_row(seen, self._shards))

    async def forget(self, path: str) -> None:
        """A delete."""
        row = other_rows.seen_row(Seen(path, {}, "", 1), self._shards)
        await self._store.drop(row["PartitionKey"], row["RowKey"])

    async def all_seen(self) -> dict[str, Seen]:
        """One range query a partition of dropped paths."""
        wanted = (Range(f"d{shard:03d}", "", "") for shard in range(self._shards))
        found = await asyncio.gather(*(self._store.rows(each) for each in wanted))
        return {seen.path: seen for part in found for seen in map(other_rows.seen_of, part)}

    async def _commit(self, change: Change) -> Stored | None:
        job = change.transition.after
        if job.state.terminal:
            index = rows.row_of(job.id, f"n|{job.id}", self._shards)
            operations = [
                Operation("delete", index, change.stored.etag),
                Operation("replace", rows.record_row(job, self._shards)),
                Operation("create", rows.ended_row(job, self._shards)),
            ]
        else:
            operations = [Operation("replace", rows.active_row(job, self._shards), change.stored.etag)]
        if change.notice is not None:
            operations.append(Operation("create", rows.notice_row(change.notice, self._shards)))
        try:
            etags = await self._store.write(job.id, *operations)
        except Refused:
            existing = await self.get(job.id)
            return existing if existing is not None and existing.job.wrote(change.transition.token) else None
        return self._remember(Stored(job, etags[0], None))

    async def _legible(self, job_id: str) -> Stored | None:
        """As `get`, for a page: a record that cannot be read must not keep the others from everybody."""
        try:
            return await self.get(job_id)
        except SlipwayError:
            raise
        except Exception:
            log.exception("a record cannot be read: %s", job_id, extra={"job": job_id})
            return None

    async def _existing(self, job: Job) -> Stored:
        existing = await self.get(job.id)
        if existing is not None and existing.job.wrote(job.history[0].token):
            return existing
        raise Exists(job.id)

    def _remember(self, stored: Stored) -> Stored:
        self._known[stored.job.id] = stored
        self._known.move_to_end(stored.job.id)
        if stored.job.state.terminal or len(self._known) > _REMEMBERED:
            self._known.pop(stored.job.id) if stored.job.state.terminal else self._known.popitem(last=False)
        return stored

    async def _listing(self, after: str | None, limit: int) -> list[str]:
        """The next listing keys of all shards, merged, newest first."""
        # No key continues another one, so "!" makes the first that comes after.
        first = f"l|{after}!" if after else "l|"
        wanted = (
            Range(rows.partition(shard), first, "l}", select=("RowKey",), limit=limit)
            for shard in range(self._shards)
        )
        shards = await asyncio.gather(*(self._store.rows(each) for each in wanted))
        return sorted(str(row["RowKey"])[2:] for shard in shards for row in shard)[:limit]


def _event(row: Row) -> Notice | None:
    """The event of a row, or None: one that cannot be read keeps no sweep from its work."""
    try:
        return rows.notice_of_row(row)
    except ValueError:
        log.exception("an event cannot be read: %s", row["RowKey"])
        return None
