"""Dead messages in a partition of the ledger's table."""

from __future__ import annotations

from shared.adapters.storage import other_rows
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Range
from shared.core.ledger.dead import DeadMessage


class TableDeadMessages:
    """The port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store

    async def keep(self, message: DeadMessage) -> None:
        """Keep a message, by an upsert."""
        await self._store.upsert(other_rows.dead_row(message))

    async def get(self, message_id: str) -> DeadMessage | None:
        """A message by its id, in one point read."""
        row = await self._store.get(other_rows.DEAD, message_id)
        return self._store.read(row.row, other_rows.dead_of) if row is not None else None

    async def all(self) -> list[DeadMessage]:
        """Every message, the oldest first: a range query over one partition."""
        entities = await self._store.rows(Range(other_rows.DEAD, "", ""))
        return sorted(self._store.legible(entities, other_rows.dead_of), key=lambda message: message.at)

    async def forget(self, message_id: str) -> None:
        """Delete a message; one that is not there is success."""
        await self._store.drop(other_rows.DEAD, message_id)
