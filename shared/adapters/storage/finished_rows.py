"""Finished jobs in the ledger's table: those due for the archive, and the tombstones of their records."""

from __future__ import annotations

import asyncio
from datetime import datetime

from shared.adapters.storage import rows
from shared.adapters.storage.lists import listed
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Refused, Row
from shared.core.job import Job, Stored
from shared.core.ledger.finished_jobs import FinishedJob

#: Rows in one transaction; the service accepts 100.
_ROWS = 90


class TableFinishedJobs:
    """The port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store
        self._shards = store.shards

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def due_jobs(self, shard: int, before: datetime, limit: int, after: str = "") -> list[str]:
        """One range query of keys of the list by the end, which begin with its moment; the last end first."""
        first = f"{after}!" if after else f"{rows.listed(before)}}}"
        ends = listed.BY_END
        range_ = Range(rows.partition(shard), f"{ends}{first}", f"{ends}~", select=("RowKey",), limit=limit)
        return [str(row["RowKey"]).removeprefix(ends) for row in await self._store.rows(range_)]

    async def gather(self, job_id: str) -> FinishedJob | None:
        """Two point reads and two ranges of one partition."""
        record, spec, waiting, event_rows = await asyncio.gather(
            self._store.row(job_id, f"j|{job_id}"),
            self._store.row(job_id, f"s|{job_id}"),
            self._keys("o", job_id),
            self._store.rows(self._range("e", job_id)),
        )
        if record is None or waiting:
            return None
        job = self._store.read(record.row, rows.job_of)
        if job.archived:  # a process that wrote the tombstone died before the rest
            await self._clear(job)
            return None
        events = tuple(rows.latest(self._store.read(row, rows.keyed_notice) for row in event_rows))
        stored = Stored(job, record.etag, rows.stored_of(record.row, record.written))
        document = self._store.read(spec.row, rows.spec_of) if spec is not None else None
        return FinishedJob(stored, document, events)

    async def entomb(self, finished_job: FinishedJob, tombstone: Job) -> bool:
        """One transaction; two or more if the job has very many events or a row is missing."""
        job, stored = finished_job.job, finished_job.stored
        event_keys = (rows.notice_key(job.id, notice.sequence, "e") for notice in finished_job.events)
        dead = await self._keys("x", job.id) if any(n.state == "dead" for n in finished_job.events) else []
        spec = [f"s|{job.id}"] if finished_job.spec is not None else []
        leftovers = [*listed.listed_rows(job, self._shards), *dead]
        leftovers += [rows.row_of(job.id, key, self._shards) for key in (*spec, *event_keys)]
        grave = rows.tombstone_row(tombstone, stored.stored or job.history[-1].at, self._shards)
        bury = Operation("replace", grave, stored.etag)
        if len(leftovers) <= _ROWS and await self._write(
            job.id, bury, *(Operation("delete", row) for row in leftovers)
        ):
            return True
        if await self._write(job.id, bury):
            await self._clear(tombstone)
            return True
        standing = await self._store.row(job.id, f"j|{job.id}")
        # Our own write, whose answer was lost; another process's write of the same line; or a change.
        current = self._store.perhaps(standing.row, rows.job_of) if standing is not None else None
        return current is not None and current.archived == tombstone.archived

    async def _write(self, job_id: str, *operations: Operation) -> bool:
        try:
            await self._store.write(job_id, *operations)
        except Refused:
            return False
        return True

    async def _clear(self, job: Job) -> None:
        """Delete the rows beside a tombstone; that of the list by the end, which leads here, goes last."""
        leftovers = [row for kind in "sex" for row in await self._keys(kind, job.id)]
        lists = sorted(listed.listed_rows(job, self._shards), key=listed.leads_to_archive)
        leftovers += [row for row in lists if await self._store.row(job.id, row["RowKey"]) is not None]
        for at in range(0, len(leftovers), _ROWS):
            if not await self._write(
                job.id, *(Operation("delete", row) for row in leftovers[at : at + _ROWS])
            ):
                return  # our own deletion whose answer was lost, or another process's: the next run checks

    async def _keys(self, kind: str, job_id: str) -> list[Row]:
        """The keys of a job's rows of one kind."""
        range_ = self._range(kind, job_id, ("RowKey",))
        return [rows.row_of(job_id, row["RowKey"], self._shards) for row in await self._store.rows(range_)]

    def _range(self, kind: str, job_id: str, select: tuple[str, ...] = ()) -> Range:
        partition = rows.partition(rows.shard_of(job_id, self._shards))
        return Range(partition, f"{kind}|{job_id}", f"{kind}|{job_id}}}", select=select)
