"""Job sweeps in the ledger's table.

`w|<id>` the record · `s|<id>` its template, and `p|<id>` the key alone, while it has not ended. `p|` comes
after `o|`, so the range query of a shard's unfinished work finds it, too. `v|<time>|<id>` it ended then, and
is not archived yet. `j|<id of a job>` takes the row of a job with the same idempotency key, so that only one
of the two is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shared.adapters.storage import rows
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Refused, joined, split
from shared.core.errors import Unavailable
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.ledger.job_sweeps import FinishedSweep, SweepKeys
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject

#: Before every time that is compared.
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


class TableJobSweeps:
    """The port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store

    async def create(self, sweep: JobSweep, template: JsonObject) -> StoredSweep:
        """One transaction: the record, the template, and the row that marks the sweep as open."""
        shards = self._store.shards
        new = (self._record(sweep), rows.spec_row(sweep.id, template, shards), self._open(sweep))
        try:
            etags = await self._store.write(sweep.id, *(Operation("create", row) for row in new))
        except Refused as refused:
            existing = await self.get(sweep.id) if refused.status == 409 else None
            if existing is None:
                raise Unavailable(f"sweep {sweep.id} could not be recorded") from refused
            return existing
        return StoredSweep(sweep, etags[0])

    async def claim(self, sweep_id: str, job_id: str) -> bool:
        """One write, and a point read if the row exists."""
        try:
            await self._store.write(job_id, Operation("create", self._claim(sweep_id, job_id)))
        except Refused:
            return await self.claimant(job_id) == sweep_id
        return True

    async def claimant(self, job_id: str) -> str | None:
        """A point read."""
        row = await self._store.row(job_id, f"j|{job_id}")
        return str(row.row["Sweep"]) if row is not None and row.row.get("Sweep") else None

    async def get(self, sweep_id: str) -> StoredSweep | None:
        """A point read."""
        row = await self._store.row(sweep_id, f"w|{sweep_id}")
        return StoredSweep(self._store.read(row.row, sweep_of), row.etag) if row is not None else None

    async def template(self, sweep_id: str) -> JsonObject | None:
        """A point read."""
        row = await self._store.row(sweep_id, f"s|{sweep_id}")
        return self._store.read(row.row, rows.spec_of) if row is not None else None

    async def change(self, stored: StoredSweep, after: JobSweep) -> StoredSweep | None:
        """One write, guarded by the version."""
        return await self._write(after, Operation("merge", self._record(after), stored.etag))

    async def end(self, stored: StoredSweep, after: JobSweep, notice: Notice | None) -> StoredSweep | None:
        """One transaction, guarded by the version of the record."""
        operations = [
            Operation("merge", self._record(after), stored.etag),
            Operation("delete", self._open(after)),
            Operation("delete", rows.row_of(after.id, f"s|{after.id}", self._store.shards)),
            Operation("create", self._ended(after)),
        ]
        if notice is not None:
            operations.append(Operation("create", rows.notice_row(notice, self._store.shards)))
        return await self._write(after, *operations)

    async def due(self, shard: int, before: datetime, limit: int, after: str = "") -> list[str]:
        """One range query of keys, which begin with the moment of the end."""
        first, last = f"v|{after}!" if after else "v|", f"v|{rows.sortable(before)}"
        range_ = Range(rows.partition(shard), first, last, select=("RowKey",), limit=limit)
        return [str(row["RowKey"])[2:] for row in await self._store.rows(range_)]

    async def recent(self, shard: int, since: datetime) -> SweepKeys:
        """Two range queries of keys; the active ones first, so that one that ends between them is in both."""
        partition, keys = rows.partition(shard), ("RowKey",)
        active = await self._store.rows(Range(partition, "p|", "p}", select=keys))
        ended = await self._store.rows(Range(partition, f"v|{rows.sortable(since)}", "v}", select=keys))
        return SweepKeys(
            [str(row["RowKey"])[2:] for row in active], [str(row["RowKey"])[2:] for row in ended]
        )

    async def gather(self, sweep_id: str) -> FinishedSweep | None:
        """A point read, and a range for each kind of its events."""
        stored = await self.get(sweep_id)
        if stored is None or await self._rows("o", sweep_id):
            return None
        if stored.sweep.archived:  # a process that wrote the tombstone died before the rest
            await self._clear(stored.sweep)
            return None
        events = [*await self._rows("e", sweep_id), *await self._rows("x", sweep_id)]
        keyed = (self._store.read(row, rows.keyed_notice) for row in events)
        return FinishedSweep(stored, tuple(rows.latest(keyed)))

    async def entomb(self, finished: FinishedSweep, tombstone: JobSweep) -> bool:
        """A write guarded by the version of the record, then one that removes the rest."""
        if await self._write(tombstone, Operation("replace", self._record(tombstone), finished.stored.etag)):
            await self._clear(tombstone)
            return True
        standing = await self.get(tombstone.id)
        # Our own write whose answer was lost, or another process's of the same line, or a change.
        return standing is not None and standing.sweep.archived == tombstone.archived

    async def _clear(self, sweep: JobSweep) -> None:
        """Delete the rows beside a tombstone."""
        events = [*await self._rows("e", sweep.id), *await self._rows("x", sweep.id)]
        leftovers = [rows.row_of(sweep.id, row["RowKey"], self._store.shards) for row in events]
        # Refused if another process was quicker: the next run checks again.
        await self._write(sweep, *(Operation("delete", row) for row in (*leftovers, self._ended(sweep))))

    async def _rows(self, kind: str, sweep_id: str) -> list[rows.Entity]:
        partition = rows.partition(rows.shard_of(sweep_id, self._store.shards))
        return await self._store.rows(Range(partition, f"{kind}|{sweep_id}", f"{kind}|{sweep_id}}}"))

    def _ended(self, sweep: JobSweep) -> rows.Entity:
        ended = sweep.ended or sweep.created
        return rows.row_of(sweep.id, f"v|{rows.sortable(ended)}|{sweep.id}", self._store.shards)

    async def _write(self, after: JobSweep, *operations: Operation) -> StoredSweep | None:
        try:
            etags = await self._store.write(after.id, *operations)
        except Refused:
            return None
        return StoredSweep(after, etags[0])

    def _claim(self, sweep_id: str, job_id: str) -> rows.Entity:
        """The row that takes the key of a job's record for a sweep with the same idempotency key."""
        keys = rows.row_of(job_id, f"j|{job_id}", self._store.shards)
        return {**keys, "State": "", "Sweep": sweep_id}

    def _record(self, sweep: JobSweep) -> rows.Entity:
        keys = rows.row_of(sweep.id, f"w|{sweep.id}", self._store.shards)
        return {**keys, **split("Sweep", sweep.model_dump_json(exclude_defaults=True))}

    def _open(self, sweep: JobSweep) -> rows.Entity:
        # Always due, by every clock: the range of unfinished work leaves out rows that are due later.
        keys = rows.row_of(sweep.id, f"p|{sweep.id}", self._store.shards)
        return {**keys, "Due": rows.text_of(_ALWAYS)}


def sweep_of(entity: Mapping[str, Any]) -> JobSweep:
    """The record that a row holds."""
    return JobSweep.model_validate_json(joined("Sweep", entity))
