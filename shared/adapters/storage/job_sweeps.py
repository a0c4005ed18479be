"""Job sweeps in the ledger's table.

`w|<id>` the record · `s|<id>` its template, and `p|<id>` the key alone, while it has not ended. `p|` comes
after `o|`, so the range query of a shard's unfinished work finds it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.adapters.storage import rows
from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Refused
from shared.core.errors import Unavailable
from shared.core.job_sweeps.record import JobSweep, StoredSweep
from shared.core.notify.events import Notice
from shared.jobspec import JsonObject


class TableJobSweeps:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(self, sweep: JobSweep, template: JsonObject) -> StoredSweep:
        """One transaction: record, template, and the row that says that it has not ended."""
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

    async def get(self, sweep_id: str) -> StoredSweep | None:
        """A point read."""
        row = await self._store.row(sweep_id, f"w|{sweep_id}")
        return StoredSweep(self._store.read(row.row, _sweep_of), row.etag) if row is not None else None

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
        ]
        if notice is not None:
            operations.append(Operation("create", rows.notice_row(notice, self._store.shards)))
        return await self._write(after, *operations)

    async def _write(self, after: JobSweep, *operations: Operation) -> StoredSweep | None:
        try:
            etags = await self._store.write(after.id, *operations)
        except Refused:
            return None
        return StoredSweep(after, etags[0])

    def _record(self, sweep: JobSweep) -> rows.Entity:
        keys = rows.row_of(sweep.id, f"w|{sweep.id}", self._store.shards)
        return {**keys, **rows.split("Sweep", sweep.model_dump_json(exclude_defaults=True))}

    def _open(self, sweep: JobSweep) -> rows.Entity:
        # Due at once, and always: the range of unfinished work leaves out what is due later.
        keys = rows.row_of(sweep.id, f"p|{sweep.id}", self._store.shards)
        return {**keys, "Due": rows.text_of(sweep.created)}


def _sweep_of(entity: Mapping[str, Any]) -> JobSweep:
    return JobSweep.model_validate_json(rows.joined("Sweep", entity))
