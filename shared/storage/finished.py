"""Finished jobs in the ledger's table: what is due for the archive, and the tombstone in a record's place."""

from __future__ import annotations

import asyncio
from datetime import datetime

from shared.finished import Finished
from shared.job import Job, Stored
from shared.storage import rows
from shared.storage.store import Store
from shared.storage.table import Operation, Range, Refused, Row

#: Rows of one transaction; the service takes 100.
_ROWS = 90


class TableFinishedJobs:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shards = store.shards

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def due(self, shard: int, before: datetime, limit: int) -> list[str]:
        """One range query of keys, which begin with the moment of the end."""
        last = f"f|{rows.sortable(before)}"
        wanted = Range(rows.partition(shard), "f|", last, select=("RowKey",), limit=limit)
        return [str(row["RowKey"]).rpartition("|")[2] for row in await self._store.rows(wanted)]

    async def gather(self, job_id: str) -> Finished | None:
        """Two point reads and two ranges of one partition."""
        record, spec, waiting, told = await asyncio.gather(
            self._store.row(job_id, f"j|{job_id}"),
            self._store.row(job_id, f"s|{job_id}"),
            self._keys("o", job_id),
            self._store.rows(self._range("e", job_id)),
        )
        if record is None or waiting:
            return None
        job = rows.job_of(record.row)
        if job.archived:  # whoever put the tombstone there did not come to the rest
            await self._clear(job, rows.ended_row(job, self._shards))
            return None
        events = tuple(rows.notices_of_rows(told))
        stored = Stored(job, record.etag, record.written)
        return Finished(stored, rows.spec_of(spec.row) if spec is not None else None, events)

    async def entomb(self, finished: Finished, tombstone: Job) -> bool:
        """One transaction, unless the job has very many events: then their rows go after it."""
        job, stored = finished.job, finished.stored
        ended = rows.ended_row(job, self._shards)
        told = (rows.notice_key(job.id, notice.sequence, "e") for notice in finished.events)
        dead = await self._keys("x", job.id) if any(n.state == "dead" for n in finished.events) else []
        spec = [f"s|{job.id}"] if finished.spec is not None else []
        gone = [*rows.listed_rows(job, self._shards), *dead]
        gone += [rows.row_of(job.id, key, self._shards) for key in (*spec, *told)]
        grave = rows.tombstone_row(tombstone, stored.stored or job.history[-1].at, self._shards)
        whole = len(gone) < _ROWS
        operations = [Operation("replace", grave, stored.etag)]
        operations += [Operation("delete", row) for row in (*gone, ended)] if whole else []
        try:
            await self._store.write(job.id, *operations)
        except Refused:
            there = await self._store.row(job.id, f"j|{job.id}")
            # Our own write whose answer was lost, or somebody else's of the same line, or a change.
            return there is not None and rows.job_of(there.row).archived == tombstone.archived
        if not whole:
            await self._clear(tombstone, ended)
        return True

    async def _clear(self, job: Job, ended: Row) -> None:
        """Remove what stands beside a tombstone; the row by which it is found goes last."""
        left = [row for kind in "sex" for row in await self._keys(kind, job.id)]
        listed = rows.listed_rows(job, self._shards)
        left += [row for row in listed if await self._store.row(job.id, row["RowKey"]) is not None]
        left.append(ended)
        for at in range(0, len(left), _ROWS):
            try:
                await self._store.write(job.id, *(Operation("delete", row) for row in left[at : at + _ROWS]))
            except Refused:
                return  # our own deletion whose answer was lost, or somebody else's: the next run looks

    async def _keys(self, kind: str, job_id: str) -> list[Row]:
        """The rows of a kind of a job, by their keys."""
        wanted = self._range(kind, job_id, ("RowKey",))
        return [rows.row_of(job_id, row["RowKey"], self._shards) for row in await self._store.rows(wanted)]

    def _range(self, kind: str, job_id: str, select: tuple[str, ...] = ()) -> Range:
        partition = rows.partition(rows.shard_of(job_id, self._shards))
        return Range(partition, f"{kind}|{job_id}", f"{kind}|{job_id}}}", select=select)
