"""Leases as rows of the ledger's table, guarded by their ETags."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from shared.adapters.storage.rows import moment_of, text_of
from shared.adapters.storage.store import Store
from shared.adapters.storage.table import Operation, Refused, Row


class TableLeases:
    """The port over the ledger's store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def take(self, name: str, now: datetime, until: datetime, since: datetime) -> str | None:
        """A point read, and a write unless another process holds it."""
        mine = _row(name, now, until)
        row = await self._store.get(mine["PartitionKey"], name)
        if row is not None:
            last = self._store.perhaps(row.row, interval)  # a lease that cannot be read is free
            if last is not None and (now < last.end <= until or since <= last.start <= now):
                return None
        write = Operation("replace", mine, row.etag) if row is not None else Operation("create", mine)
        try:
            return await self._store.write_other(write)
        except Refused:
            return None  # another process was quicker; or our own answer was lost, and then the lease expires

    async def release(self, name: str, token: str, start: datetime) -> None:
        """A write that fails if another process holds the lease."""
        try:
            await self._store.write_other(Operation("replace", _row(name, start, start), token))
        except Refused:
            return


class Interval(NamedTuple):
    """The start and the end of a lease."""

    start: datetime
    end: datetime


def interval(row: Row) -> Interval:
    """The interval that a row holds."""
    return Interval(moment_of(row["Taken"]), moment_of(row["Until"]))


def _row(name: str, start: datetime, until: datetime) -> Row:
    return {"PartitionKey": "leases", "RowKey": name, "Taken": text_of(start), "Until": text_of(until)}
