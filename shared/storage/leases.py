"""Leases as rows of the ledger's table, guarded by their ETags."""

from __future__ import annotations

from datetime import datetime

from shared.storage.rows import text_of
from shared.storage.store import Store
from shared.storage.table import Operation, Refused, Row


class TableLeases:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def take(self, name: str, now: datetime, until: datetime, since: datetime) -> str | None:
        """A point read, and a write unless somebody holds it."""
        mine = _row(name, now, until)
        found = await self._store.get(mine["PartitionKey"], name)
        if found is not None:
            taken, ends = (datetime.fromisoformat(found.row[column]) for column in ("Taken", "Until"))
            if now < ends <= until or since <= taken <= now:
                return None
        write = Operation("replace", mine, found.etag) if found is not None else Operation("create", mine)
        try:
            return await self._store.write_other(write)
        except Refused:
            return None  # somebody else was quicker, or our own answer was lost: then it ends by itself

    async def release(self, name: str, token: str, taken: datetime) -> None:
        """A write that fails when it is somebody else's."""
        try:
            await self._store.write_other(Operation("replace", _row(name, taken, taken), token))
        except Refused:
            return


def _row(name: str, taken: datetime, until: datetime) -> Row:
    return {"PartitionKey": "leases", "RowKey": name, "Taken": text_of(taken), "Until": text_of(until)}
