"""What every request of a process needs first is done once for all who wait, also where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from shared.adapters.storage.addresses import BlobAddresses
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Row, VersionedRow
from shared.adapters.storage.wire.connection import Connection
from shared.core.errors import Unavailable

NOW = datetime(2026, 7, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


class DownTable:
    """A table of a service that answers nothing; each request ends when the test says so."""

    def __init__(self) -> None:
        self.requests, self.ends = 0, asyncio.Event()

    async def rows(self, key_range: Range) -> list[Row]:
        self.requests += 1
        await self.ends.wait()
        raise Unavailable("storage did not answer")

    async def make(self) -> bool:
        raise AssertionError

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        raise AssertionError

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        raise AssertionError


async def test_callers_that_wait_for_the_table_share_one_try_and_its_error() -> None:
    table = DownTable()
    store = ShardedTable(table, 4)
    callers = [asyncio.create_task(store.get("p", "r")) for _ in range(10)]
    await asyncio.sleep(0)
    table.ends.set()

    ends = await asyncio.gather(*callers, return_exceptions=True)

    assert {type(end) for end in ends} == {Unavailable}
    assert table.requests == 1


async def test_callers_that_wait_for_a_delegated_key_share_one_request_and_its_error() -> None:
    requests: list[Any] = []
    ends = asyncio.Event()

    async def refuse(*period: Any) -> None:
        requests.append(period)
        await ends.wait()
        raise Unavailable("storage did not answer")

    account: Any = SimpleNamespace(blobs=SimpleNamespace(get_user_delegation_key=refuse))
    addresses = BlobAddresses(account, Connection(blob="https://a.blob.core.windows.net"), HOUR, lambda: NOW)
    folder: Any = SimpleNamespace(container="c", path="p")
    callers = [asyncio.create_task(addresses.page(folder, "")) for _ in range(10)]
    for _ in range(5):
        await asyncio.sleep(0)
    ends.set()

    outcomes = await asyncio.gather(*callers, return_exceptions=True)

    assert {type(outcome) for outcome in outcomes} == {Unavailable}
    assert len(requests) == 1
