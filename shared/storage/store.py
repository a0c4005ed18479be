"""The sharded table of the ledger: all rows of a job in one partition, written by group commit."""

from __future__ import annotations

import asyncio

from shared.errors import Misconfigured
from shared.storage import rows
from shared.storage.group import LINGER, GroupCommit, Write
from shared.storage.table import Found, Operation, Range, Refused, Row, Table

#: Which rows there are, and what they hold; changed when older ones could not be read.
_LAYOUT = 2


class Store:
    """One table with its shards, whose number is fixed when it is made."""

    def __init__(self, table: Table, shards: int, linger: float = LINGER) -> None:
        self.shards = shards
        self._table = table
        self._group = GroupCommit(table, linger)
        self._ready = False
        self._opening = asyncio.Lock()

    async def row(self, job_id: str, key: str) -> Found | None:
        """One row of a job."""
        return await self.get(rows.partition(rows.shard_of(job_id, self.shards)), key)

    async def get(self, partition: str, key: str) -> Found | None:
        """One row."""
        await self.open()
        return await self._table.get(partition, key)

    async def range(self, shard: int, kind: str) -> list[Row]:
        """The rows of a kind in a shard, in order."""
        return await self.rows(rows.range_of(shard, kind))

    async def rows(self, wanted: Range) -> list[Row]:
        """The rows of a range."""
        await self.open()
        return await self._table.rows(wanted)

    async def write(self, job_id: str, *operations: Operation) -> list[str]:
        """Change rows of one job, all or none: the ETags. Raises Refused."""
        await self.open()
        return await self._group.write(Write(job_id, operations))

    async def upsert(self, row: Row) -> None:
        """Write a row that belongs to no job; the last writer wins."""
        await self.open()
        await self._table.transact([Operation("upsert", row)])

    async def write_other(self, operation: Operation) -> str:
        """Change a row that belongs to no job: its ETag. Raises Refused."""
        await self.open()
        return (await self._table.transact([operation]))[0]

    async def drop(self, partition: str, key: str) -> None:
        """Delete a row that belongs to no job; one that is missing is success."""
        await self.open()
        try:
            await self._table.transact([Operation("delete", {"PartitionKey": partition, "RowKey": key})])
        except Refused as refused:
            if refused.status != 404:
                raise

    async def open(self) -> None:
        """See that the table is there, with the shard count that it was made for. Raises Misconfigured.

        Every verb does it first; it costs one request a process.
        """
        if self._ready:
            return
        async with self._opening:
            if not self._ready:
                await self._check_layout()
                self._ready = True

    async def _check_layout(self) -> None:
        layout = await self._table.get("meta", "layout")
        if layout is None:
            await self._table.make()
            first = {"PartitionKey": "meta", "RowKey": "layout", "Shards": self.shards, "Version": _LAYOUT}
            try:
                await self._table.transact([Operation("create", first)])
                return
            except Refused:
                layout = await self._table.get("meta", "layout")
        if layout is not None and layout.row["Version"] != _LAYOUT:
            raise Misconfigured(
                f"the ledger's table has layout {layout.row['Version']}, of another version; this "
                f"one has layout {_LAYOUT}: name a new table by SLIPWAY_LEDGER_TABLE"
            )
        if layout is None or layout.row["Shards"] != self.shards:
            made = layout.row["Shards"] if layout is not None else 0
            raise Misconfigured(
                f"the ledger's table was made with {made} shards and SLIPWAY_SHARDS says "
                f"{self.shards}: set it back, or name a new table"
            )
