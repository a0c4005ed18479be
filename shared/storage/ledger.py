"""The ledger in an Azure table: one entity-group transaction a transition.

An answer that was lost looks like a conflict when the SDK repeats the request. Every write carries a token of
its own in the record's history, so our own write is recognised instead of being taken for somebody else's.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from shared.errors import Exists, Misconfigured, Misuse
from shared.events import Notice
from shared.job import Job, JobState, Stored
from shared.ports import Active, Change, Page, Seen
from shared.spec import JsonObject
from shared.storage import rows
from shared.storage.connection import REPEATED, Account, storage_errors

if TYPE_CHECKING:
    from azure.data.tables.aio import TableClient

Operation = tuple[Any, ...]

#: How many pages of the listing one answer reads, when few of its jobs are wanted.
_PAGES = 10
#: A transaction holds 100 entities; a change has at most three.
_CHANGES = 33


class TableLedger:
    """The ledger port over one table. `shards` is fixed when the table is made."""

    def __init__(self, account: Account, table: str, shards: int) -> None:
        self._account = account
        self._name = table
        self._shards = shards
        self._ready: TableClient | None = None
        self._opening = asyncio.Lock()

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self._shards

    async def create(self, job: Job, spec: JsonObject | None, notice: Notice | None) -> Stored:
        """One transaction: record, spec, index row, listing, first event."""
        from azure.core.exceptions import ResourceExistsError
        from azure.data.tables import TableTransactionError

        operations: list[Operation] = [("create", rows.record_row(job, self._shards))]
        operations.append(("create", rows.listing_row(job, self._shards)))
        if spec is not None:
            operations.append(("create", rows.spec_row(job.id, spec, self._shards)))
        if not job.state.terminal:
            operations.append(("create", rows.active_row(job, self._shards)))
        if notice is not None:
            operations.append(("create", rows.notice_row(notice, self._shards)))
        async with storage_errors():
            try:
                results = await (await self._table()).submit_transaction(
                    operations, retry_on_methods=REPEATED
                )
            except (TableTransactionError, ResourceExistsError) as error:
                if error.status_code != 409:
                    raise
            else:
                return Stored(job, results[0]["etag"], None)
        existing = await self.get(job.id)
        if existing is not None and existing.job.wrote(job.history[0].token):
            return existing
        raise Exists(job.id)

    async def get(self, job_id: str) -> Stored | None:
        """A point read."""
        entity = await self._row(job_id, f"j|{job_id}")
        if entity is None:
            return None
        return Stored(rows.job_of(entity), entity.metadata["etag"], entity.metadata["timestamp"])

    async def spec(self, job_id: str) -> JsonObject | None:
        """A point read."""
        entity = await self._row(job_id, f"s|{job_id}")
        return rows.spec_of(entity) if entity is not None else None

    async def commit(self, changes: Sequence[Change]) -> list[Stored | None]:
        """Changes of one shard share transactions; one that fails is repeated change by change."""
        shards: dict[int, list[int]] = defaultdict(list)
        for index, change in enumerate(changes):
            shards[rows.shard_of(change.stored.job.id, self._shards)].append(index)
        batches = [
            indexes[at : at + _CHANGES]
            for indexes in shards.values()
            for at in range(0, len(indexes), _CHANGES)
        ]
        results: list[Stored | None] = [None] * len(changes)

        async def one(batch: list[int]) -> None:
            committed = await self._transaction([changes[index] for index in batch])
            for index, stored in zip(batch, committed, strict=True):
                results[index] = stored

        await asyncio.gather(*(one(batch) for batch in batches))
        return results

    async def active(self, shard: int) -> list[Active]:
        """One range query."""
        return [rows.active_of(entity) for entity in await self._range(shard, "a")]

    async def undelivered(self, shard: int, before: datetime) -> list[Notice]:
        """One range query, filtered by the service."""
        due = f" and Due le '{rows.due_before(before)}'"
        return [rows.notice_of_row(entity) for entity in await self._range(shard, "o", due)]

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        """A point read."""
        entity = await self._row(job_id, rows.notice_key(job_id, sequence))
        return rows.notice_of_row(entity) if entity is not None else None

    async def settle(self, notice: Notice) -> None:
        """While pending: replaced where it stands. Settled: moved to the archive in one transaction."""
        from azure.core.exceptions import ResourceNotFoundError
        from azure.data.tables import TableTransactionError, UpdateMode

        outbox = rows.notice_row(notice, self._shards)
        async with storage_errors():
            table = await self._table()
            try:
                if not notice.settled:
                    await table.update_entity(outbox, mode=UpdateMode.REPLACE)
                    return
                operations: list[Operation] = [
                    ("delete", outbox),
                    ("upsert", rows.notice_row(notice, self._shards, "e")),
                ]
                if any(target.state == "dead" for target in notice.targets):
                    operations.append(("upsert", rows.notice_row(notice, self._shards, "x")))
                await table.submit_transaction(operations, retry_on_methods=REPEATED)
            except (ResourceNotFoundError, TableTransactionError) as error:
                if error.status_code != 404:  # 404: somebody else settled it meanwhile
                    raise

    async def dead(self) -> list[Notice]:
        """One range query a shard."""
        shards = await asyncio.gather(*(self._range(n, "x") for n in range(self._shards)))
        return [rows.notice_of_row(entity) for shard in shards for entity in shard]

    async def find(self, *, states: frozenset[JobState] | None, limit: int, after: str | None) -> Page:
        """Merge the shards' listings; records are read by key."""
        if after is not None and not rows.LISTING_KEY.fullmatch(after):
            raise Misuse("`after` is not the `next` of a page", remedy="leave it out to start at the newest")
        found: list[Job] = []
        cursor = after
        for _ in range(_PAGES):
            keys = await self._listing(cursor, limit)
            if not keys:
                return Page(tuple(found))
            records = await asyncio.gather(*(self.get(key.rpartition("|")[2]) for key in keys))
            for key, stored in zip(keys, records, strict=True):
                cursor = key
                if stored is not None and (states is None or stored.job.state in states):
                    found.append(stored.job)
                    if len(found) == limit:
                        return Page(tuple(found), cursor)
        return Page(tuple(found), cursor)

    async def seen(self, path: str) -> Seen | None:
        """A point read."""
        row = rows.seen_row(Seen(path, {}, "", 1), self._shards)
        entity = await self._entity(row["PartitionKey"], row["RowKey"])
        return rows.seen_of(entity) if entity is not None else None

    async def remember(self, seen: Seen) -> None:
        """An upsert; the last writer wins."""
        async with storage_errors():
            await (await self._table()).upsert_entity(rows.seen_row(seen, self._shards))

    async def all_seen(self) -> dict[str, Seen]:
        """One range query over the partitions of dropped paths."""
        entities = await self._query("PartitionKey ge 'd' and PartitionKey lt 'e'")
        return {seen.path: seen for seen in map(rows.seen_of, entities)}

    async def _transaction(self, changes: list[Change]) -> list[Stored | None]:
        from azure.core.exceptions import HttpResponseError

        operations: list[Operation] = []
        places = []
        for change in changes:
            places.append(len(operations))
            operations += self._operations(change)
        async with storage_errors():
            try:
                results = await (await self._table()).submit_transaction(
                    operations, retry_on_methods=REPEATED
                )
            except HttpResponseError as error:
                if error.status_code not in (404, 409, 412):
                    raise
            else:
                return [
                    Stored(change.transition.after, results[place]["etag"], None)
                    for change, place in zip(changes, places, strict=True)
                ]
        if len(changes) > 1:
            return [(await self._transaction([change]))[0] for change in changes]
        existing = await self.get(changes[0].stored.job.id)
        if existing is not None and existing.job.wrote(changes[0].transition.token):
            return [existing]
        return [None]

    def _operations(self, change: Change) -> list[Operation]:
        from azure.core import MatchConditions
        from azure.data.tables import UpdateMode

        job = change.transition.after
        guarded = {
            "mode": UpdateMode.REPLACE,
            "etag": change.stored.etag,
            "match_condition": MatchConditions.IfNotModified,
        }
        index = rows.active_row(job, self._shards)
        operations: list[Operation] = [("update", rows.record_row(job, self._shards), guarded)]
        if job.state.terminal:
            operations.append(("delete", index))
        else:
            operations.append(("upsert", index, {"mode": UpdateMode.REPLACE}))
        if change.notice is not None:
            operations.append(("create", rows.notice_row(change.notice, self._shards)))
        return operations

    async def _row(self, job_id: str, row: str) -> Any:
        return await self._entity(rows.partition(rows.shard_of(job_id, self._shards)), row)

    async def _entity(self, partition: str, row: str) -> Any:
        from azure.core.exceptions import ResourceNotFoundError

        async with storage_errors():
            try:
                return await (await self._table()).get_entity(partition, row)
            except ResourceNotFoundError:
                return None

    async def _range(self, shard: int, kind: str, more: str = "") -> list[Any]:
        start = f"PartitionKey eq '{rows.partition(shard)}' and RowKey ge '{kind}|' and RowKey lt '{kind}}}'"
        return await self._query(start + more)

    async def _query(self, text: str) -> list[Any]:
        async with storage_errors():
            return [entity async for entity in (await self._table()).query_entities(text)]

    async def _listing(self, after: str | None, limit: int) -> list[str]:
        """The next listing keys of all shards, merged, newest first."""

        async def one(shard: int) -> list[str]:
            start = f"l|{after}" if after else "l|"
            text = (
                f"PartitionKey eq '{rows.partition(shard)}' "
                f"and RowKey {'gt' if after else 'ge'} '{start}' and RowKey lt 'l}}'"
            )
            keys: list[str] = []
            async with storage_errors():
                pages = (await self._table()).query_entities(text, select=["RowKey"], results_per_page=limit)
                async for entity in pages:
                    keys.append(str(entity["RowKey"])[2:])
                    if len(keys) == limit:
                        break
            return keys

        shards = await asyncio.gather(*(one(shard) for shard in range(self._shards)))
        return sorted(key for shard in shards for key in shard)[:limit]

    async def _table(self) -> TableClient:
        """The table, made if it is missing, with the shard count that it was made for."""
        if self._ready is None:
            async with self._opening:
                if self._ready is None:
                    self._ready = await self._open()
        return self._ready

    async def _open(self) -> TableClient:
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

        table = self._account.tables.get_table_client(self._name)
        try:
            layout = await table.get_entity("meta", "layout")
        except ResourceNotFoundError:
            await self._account.tables.create_table_if_not_exists(self._name)
            first = {"PartitionKey": "meta", "RowKey": "layout", "Shards": self._shards, "Version": 1}
            try:
                await table.create_entity(first)
                return table
            except ResourceExistsError:
                layout = await table.get_entity("meta", "layout")
        if layout["Shards"] != self._shards:
            raise Misconfigured(
                f"table {self._name} was made with {layout['Shards']} shards and SLIPWAY_SHARDS says "
                f"{self._shards}: set it back, or name a new table"
            )
        return table
