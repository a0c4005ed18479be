"""The outbox in the ledger's table: an event is written there by the transition that it reports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta

from shared.adapters.storage import other_rows, rows
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Refused, Row
from shared.core.notify.events import Notice
from shared.core.notify.receivers import Disabled


class TableOutbox:
    """The outbox port over the ledger's store."""

    def __init__(self, store: ShardedTable) -> None:
        self._store = store
        self._shards = store.shards

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def undelivered(self, shard: int, now: datetime, longest: timedelta) -> list[Notice]:
        """One range query, filtered by the service."""
        due, never = rows.due_range(now, longest)
        range_ = rows.range_of(shard, "o", due=due, beyond=never)
        return self._store.legible(await self._store.rows(range_), rows.notice_of_row)

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        """An undelivered event by its job and sequence, in one point read."""
        row = await self._store.row(job_id, rows.notice_key(job_id, sequence))
        return self._store.perhaps(row.row, rows.notice_of_row) if row is not None else None

    async def settle(self, notice: Notice) -> None:
        """A pending event is replaced in its row; a settled one moves to the archive in one transaction."""
        if notice.settled:
            key = rows.notice_key(notice.job_id, notice.sequence)
            operations = [Operation("delete", rows.row_of(notice.job_id, key, self._shards))]
            for kind in ("e", "x") if notice.state == "dead" else ("e",):
                operations.append(Operation("upsert", rows.notice_row(notice, self._shards, kind)))
        else:
            operations = [Operation("merge", rows.notice_row(notice, self._shards))]
        try:
            await self._store.write(notice.job_id, *operations)
        except Refused as refused:
            if refused.status != 404:  # 404: another process settled it meanwhile
                raise

    async def dead(self) -> list[Notice]:
        """One range query a shard."""
        shards = await asyncio.gather(*(self._store.range(n, "x") for n in range(self._shards)))
        return self._store.legible((row for shard in shards for row in shard), rows.notice_of_row)

    async def events(self, job_id: str) -> list[Notice]:
        """Two ranges of one partition."""
        partition = rows.partition(rows.shard_of(job_id, self._shards))
        ranges = (Range(partition, f"{kind}|{job_id}|", f"{kind}|{job_id}}}") for kind in "eo")
        answers = await asyncio.gather(*(self._store.rows(each) for each in ranges))
        return self._latest(answers)

    async def find(self, event_id: str) -> Notice | None:
        """The service searches the rows of each shard, both waiting and delivered."""
        ranges = (
            rows.range_of(shard, kind, equal=("Event", event_id))
            for shard in range(self._shards)
            for kind in "eo"
        )
        answers = await asyncio.gather(*(self._store.rows(each) for each in ranges))
        notices = self._latest(answers)
        return notices[-1] if notices else None

    async def revive(self, notice: Notice) -> None:
        """One transaction, after a check whether there is a dead letter to delete."""
        again = Operation("upsert", rows.notice_row(notice, self._shards))
        dead = Operation("delete", rows.notice_row(notice, self._shards, "x"))
        row = await self._store.row(notice.job_id, dead.row["RowKey"])
        try:
            await self._store.write(notice.job_id, *([again, dead] if row else [again]))
        except Refused:  # our own deletion, whose answer was lost, or another process's
            await self._store.write(notice.job_id, again)

    async def disable(self, receiver: Disabled) -> None:
        """Disable a receiver, by an upsert."""
        await self._store.upsert(other_rows.disabled_row(receiver))

    async def enable(self, receiver_id: str) -> None:
        """A delete; a row that is missing is success."""
        await self._store.drop(other_rows.RECEIVERS, receiver_id)

    async def disabled(self) -> list[Disabled]:
        """Every disabled receiver: a range query over one partition."""
        entities = await self._store.rows(Range(other_rows.RECEIVERS, "", ""))
        return self._store.legible(entities, other_rows.disabled_of)

    def _latest(self, parts: Iterable[list[Row]]) -> list[Notice]:
        return rows.latest(self._store.legible((row for part in parts for row in part), rows.keyed_notice))
