"""The sharded table of the ledger: all rows of a job in one partition, written by group commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from shared.adapters.storage import rows
from shared.adapters.storage.group import LINGER, GroupCommit, Write
from shared.adapters.storage.layout import LAYOUT, claim
from shared.adapters.storage.table import Operation, Range, Refused, Row, Table, VersionedRow
from shared.core.errors import Unavailable, Unreadable
from shared.core.ledger.kinds import remedy_for
from shared.core.pacing.shared_call import SharedCall
from shared.core.trouble import Troubles

log = logging.getLogger(__name__)
T = TypeVar("T")


class ShardedTable:
    """One table with its shards, whose number is fixed when the table is created."""

    def __init__(
        self,
        table: Table,
        shards: int,
        linger: float = LINGER,
        troubles: Troubles | None = None,
        owner: str = "",
    ) -> None:
        self.shards = shards
        self.troubles = troubles or Troubles(lambda: datetime.now(UTC))
        self._table = table
        self._owner = owner
        self._group = GroupCommit(table, linger)
        self._ready = False
        self._opening = SharedCall(self._claim)

    async def row(self, job_id: str, key: str) -> VersionedRow | None:
        """One row of a job."""
        return await self.get(rows.partition(rows.shard_of(job_id, self.shards)), key)

    async def get(self, partition: str, key: str) -> VersionedRow | None:
        """A row by its keys, with its ETag; None if there is none."""
        await self.open()
        return await self._table.get(partition, key)

    async def range(self, shard: int, kind: str) -> list[Row]:
        """The rows of a kind in a shard, in order."""
        return await self.rows(rows.range_of(shard, kind))

    async def rows(self, key_range: Range) -> list[Row]:
        """The rows of a range."""
        await self.open()
        return await self._table.rows(key_range)

    def read(self, row: Row, make: Callable[[Row], T]) -> T:
        """The content of a row.

        Raises Unreadable, after noting the row and the column at which reading failed.
        """
        try:
            return make(row)
        except Exception as error:  # pure code over rows that others may have written
            raise self.spoiled(row, _column(row, make, error)) from error

    def legible(self, rows: Iterable[Row], make: Callable[[Row], T]) -> list[T]:
        """The contents of some rows. An unreadable one is noted and skipped."""
        contents = []
        for row in rows:  # without `perhaps`: a pass reads thousands
            try:
                contents.append(make(row))
            except Exception as error:  # noqa: BLE001 - as in `read`
                self.spoiled(row, _column(row, make, error))
        return contents

    def perhaps(self, row: Row, make: Callable[[Row], T]) -> T | None:
        """The content of a row; None for an unreadable one, which is noted."""
        try:
            return self.read(row, make)
        except Unreadable:
            return None

    def spoiled(self, row: Row, column: str) -> Unreadable:
        """Note an unreadable row, only by its key."""
        name = f"{row.get('PartitionKey', '?')}/{row['RowKey']}"
        if self.troubles.report("row", name, column):
            log.error("a row cannot be read, and is skipped: %s, %s", name, column)
        return Unreadable(f"row {name} of the ledger", column, remedy_for(name))

    async def write(self, job_id: str, *operations: Operation) -> list[str]:
        """Change rows of one job, all or none; returns the ETags. Raises Refused."""
        await self.open()
        return await self._group.write(Write(job_id, operations))

    async def upsert(self, row: Row) -> None:
        """Write a row that belongs to no job; the last writer wins."""
        await self.open()
        await self._table.transact([Operation("upsert", row)])

    async def write_other(self, operation: Operation) -> str:
        """Change a row that belongs to no job; returns its ETag. Raises Refused."""
        return (await self.write_others([operation]))[0]

    async def write_others(self, operations: Sequence[Operation]) -> list[str]:
        """Change some of one partition, all or none; returns their ETags. Raises Refused."""
        await self.open()
        return await self._table.transact(operations)

    async def drop(self, partition: str, key: str) -> None:
        """Delete a row that belongs to no job; one that is missing is success."""
        await self.open()
        try:
            await self._table.transact([Operation("delete", {"PartitionKey": partition, "RowKey": key})])
        except Refused as refused:
            if refused.status != 404:
                raise

    async def try_write(self) -> None:
        """Write the row of the layout as it is. Raises Unavailable if that is refused."""
        await self.open()
        try:
            await self._table.transact([Operation("merge", LAYOUT, "*")])
        except Refused as refused:
            raise Unavailable(f"the row of the table's layout: {refused}") from refused

    async def open(self) -> None:
        """Make sure that the table exists, for this app and its number of shards. Raises Misconfigured.

        Every operation calls it first; it costs one request a process.
        """
        if self._ready:
            return
        await self._opening.result()

    async def _claim(self) -> None:
        await claim(self._table, self.shards, self._owner)
        self._ready = True


class _Watched(dict[str, Any]):
    """A row that remembers which of its columns was read last."""

    last = "RowKey"

    def __getitem__(self, name: str) -> Any:
        self.last = name
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.last = name if name in self else self.last
        return super().get(name, default)


def _column(row: Row, make: Callable[[Row], Any], error: Exception) -> str:
    """The column that cannot be read, and the field if it is a record: only our own names, no content."""
    watched = _Watched(row)
    try:
        make(watched)
    except Exception as again:  # noqa: BLE001 - any error: what counts is where it happened
        error = again
    column = watched.last.rstrip("0123456789")
    field = error.errors()[0]["loc"][:1] if isinstance(error, ValidationError) else ()
    return ": ".join([column, *map(str, field)])
