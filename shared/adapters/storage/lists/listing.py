"""Lists of jobs over the ledger's table: reads the ranges that hold the jobs in order, and merges them.

Rows show their jobs, so a page costs a range query a shard; by experiment or cluster another one, for those
that have not ended. A condition without a range of its own is checked on the narrowest range that contains
its jobs, within the bounds of one request. Records are read in place of rows that are damaged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from shared.adapters.storage import rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Range, Row
from shared.core.errors import Misuse, Unreadable
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Active
from shared.core.ledger.listing import Page, Query, brief

#: After every key.
_END = "~"

#: The row found for a job, by its key: a list row, or its index row.
Entries = dict[str, Row | Active]
Record = Callable[[str], Awaitable[Stored | None]]


#: Rows in one answer of the table service.
_ANSWER = 1_000


class Bounds(NamedTuple):
    """Those of one request: pages of rows, records in place of damaged rows, seconds; rows in all.

    A row has about 1 KB. The first page of each range may have more rows in all: it is what a page of a list
    without a search needs.
    """

    pages: int = 64
    records: int = 1_000
    seconds: float = 4.0
    rows: int = 4_000


BOUNDS = Bounds()


@dataclass
class _Stream:
    """The rows of a shard whose keys begin with `prefix` and lie below `last`: they are read up to `at`.

    `reached` is the last of these keys that belongs to a job, so that a page can go on there.
    """

    shard: int
    prefix: str
    last: str
    at: str
    done: bool = False
    reached: str = field(init=False)

    def __post_init__(self) -> None:
        self.reached = self.at

    async def more(self, store: ShardedTable, number: int) -> list[Row]:
        """Read at most `number` rows on from `at`; `done` says whether these were the last."""
        # No key continues another one, so "!" makes the first that comes after.
        first = f"{self.prefix}{self.at}!" if self.at else f"{self.prefix}0"
        page = await store.rows(Range(rows.partition(self.shard), first, self.last, limit=number))
        self.done = len(page) < number
        if page:
            self.at = str(page[-1]["RowKey"])[len(self.prefix) :]
        keys = (str(row["RowKey"])[len(self.prefix) :] for row in reversed(page))
        self.reached = next(filter(listed.LISTING_KEY.fullmatch, keys), self.reached)
        return page


def _before(until: datetime | None) -> str:
    """A place right before the jobs of a moment in a list, which no job has; "" without a moment."""
    return f"{max(rows.listed(until), '0' * 15)}|j_0" if until else ""


class _Ranges(NamedTuple):
    """The key prefixes of the rows, and whether index rows are read, too."""

    prefixes: list[str]
    active: bool


class Listing:
    """Finds jobs in one store. `record` reads the record of a job; None where it cannot be read."""

    def __init__(self, store: ShardedTable, record: Record, bounds: Bounds = BOUNDS) -> None:
        self._store = store
        self._record = record
        self._bounds = bounds

    async def find(self, query: Query, limit: int, after: str | None) -> Page:
        """Find jobs, newest first or by their ends, at most `limit`.

        Raises Misuse for an `after` that is not the `next` of a page.
        """
        if after is not None and not listed.LISTING_KEY.fullmatch(after):
            raise Misuse("`after` is not the `next` of a page", remedy="leave it out to start at the newest")
        prefixes, active = self._ranges(query)
        last = f"{rows.listed(query.since)}}}" if query.since else ":"
        first = max(after or "", _before(query.until))
        streams = [
            _Stream(shard, prefix, f"{prefix}{last}", first)
            for shard in range(self._store.shards)
            for prefix in prefixes
        ]
        shown = _Shown(self._store, self._record, query)
        # First the jobs that have not ended: one that ends meanwhile is found again, and counts as it ended.
        entries: Entries = {}
        if active:
            states = query.states or frozenset(JobState)
            every = await self._active()
            entries |= {row.listed: row for row in every if row.state in states and row.listed > first}
        page = await self._merge(limit, streams, entries, shown)
        if page.cut and page.next and query.seen_by is not None:
            return replace(page, next=listed.covered(page.next))  # the job there may belong to another caller
        return page

    async def _active(self) -> list[Active]:
        """The index rows that have a place in the list."""
        answers = await asyncio.gather(*(self._store.range(n, "n") for n in range(self._store.shards)))
        every = (row for answer in answers for row in self._store.legible(answer, rows.active_of))
        return [row for row in every if listed.LISTING_KEY.fullmatch(row.listed)]

    def _ranges(self, query: Query) -> _Ranges:
        """The key prefixes of the rows that match, and whether index rows may match, too."""
        if not (query.states or query.experiment or query.cluster or query.sweep or query.by_end):
            return _Ranges([listed.EVERY], False)
        states = query.states or frozenset(JobState)
        ended = sorted(state.value for state in states if state.terminal)
        if query.by_end:
            return _Ranges([listed.BY_END] if ended else [], False)
        active = len(ended) < len(states)
        if not ended:
            return _Ranges([], active)
        if query.sweep and "|" not in query.sweep:
            return _Ranges([listed.by_sweep(query.sweep)], active)
        if query.experiment:
            return _Ranges([listed.by_experiment(query.experiment)], active)
        if query.states:
            return _Ranges([listed.by_state(state) for state in ended], active)
        return _Ranges([listed.by_cluster(query.cluster)], active)

    async def _merge(self, limit: int, streams: list[_Stream], entries: Entries, shown: _Shown) -> Page:
        loop = asyncio.get_running_loop()
        bounds = self._bounds
        # Less the index rows.
        pages, end, number = bounds.pages - self._store.shards, loop.time() + bounds.seconds, limit
        room, jobs = bounds.rows, list[Job]()
        begin = min((stream.at for stream in streams), default="")
        while True:
            going = [stream for stream in streams if not stream.done]
            answers = await asyncio.gather(*(stream.more(self._store, number) for stream in going))
            entries |= {key: row for answer in answers for key, row in self._in_order(answer)}
            pages, room = pages - len(going), room - sum(map(len, answers))
            going = [stream for stream in going if not stream.done]
            number = min(4 * number, _ANSWER, room // max(1, len(going)))
            # Up to this key, all ranges have been read.
            horizon = min((stream.reached for stream in going), default=_END)
            ready = sorted(key for key in entries if key <= horizon)
            for at in range(0, len(ready), limit):
                chunk = {key: entries.pop(key) for key in ready[at : at + limit]}
                for key, job in await shown.jobs(chunk):
                    jobs.append(job)
                    if len(jobs) == limit:
                        return Page(tuple(jobs), key if going or key < ready[-1] else None)
                last = not going and at + limit >= len(ready)
                if not last and (shown.records >= bounds.records or loop.time() > end):
                    return Page(tuple(jobs), max(chunk), listed.moment_of(max(chunk)))
            if not going:
                return Page(tuple(jobs))
            # A page whose next one would begin at the same key is not cut: damaged keys are there, and more
            # follow.
            spent = (loop.time() > end or number < 1) and horizon > begin
            if pages < len(going) or spent:
                return Page(tuple(jobs), horizon or None, listed.moment_of(horizon) if horizon else None)
            number = number if number > 0 else _ANSWER

    def _in_order(self, entities: Sequence[Row]) -> list[tuple[str, Row]]:
        return self._store.legible(entities, lambda row: (listed.listed_key(row), row))


class _Shown:
    """The jobs of a list, for one request. `records`: how many records were read."""

    def __init__(self, store: ShardedTable, record: Record, query: Query) -> None:
        self._store = store
        self._record = record
        self._query = query
        self.records = 0

    async def jobs(self, entries: Entries) -> list[tuple[str, Job]]:
        """The jobs of these entries that match and can be read, in order."""
        jobs: dict[str, Job | None] = {}
        damaged: list[str] = []
        for key, entry in entries.items():
            if isinstance(entry, Active):
                jobs[key] = await self._read_active(entry)
            elif (job := self._store.perhaps(entry, listed.shown_of)) is not None:
                jobs[key] = job
            else:
                damaged.append(key)
        self.records += len(damaged)
        read = await asyncio.gather(*(self._recorded(key[16:]) for key in damaged))
        jobs |= dict(zip(damaged, read, strict=True))
        pairs = ((key, jobs[key]) for key in entries)
        return [(key, job) for key, job in pairs if job is not None and self._query.fits(job)]

    async def _read_active(self, row: Active) -> Job | None:
        try:
            job = row.stored.job
            return brief(job) if self._query.fits(job) else None
        except Unreadable:
            return await self._recorded(row.job_id)  # notes the row by its key

    async def _recorded(self, job_id: str) -> Job | None:
        stored = await self._record(job_id)
        return brief(stored.job) if stored is not None else None
