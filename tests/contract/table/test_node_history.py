"""The histories of nodes over the service (Azurite): one row a cluster, guarded by its version."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from local.azurite import Azurite
from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.ledger.node_history import MOST_POINTS, Point

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def store(storage: Azurite) -> AsyncIterator[ShardedTable]:
    account = Account(Connection(storage.connection_string))
    yield ShardedTable(RestTable(account, f"t{uuid.uuid4().hex[:20]}"), 4)
    await account.close()


async def test_a_full_history_comes_back_and_an_old_version_is_refused(store: ShardedTable) -> None:
    one, other = TableNodeHistories(store), TableNodeHistories(store)
    history = await one.get("a/b #?")
    stale = await other.get("a/b #?")
    for minute in range(MOST_POINTS):
        nodes = (minute, 100_000, 100_000, 100_000, 100_000) if minute % 7 else None
        history = history.extended(Point(NOW + timedelta(minutes=minute), nodes), 100_000)

    assert await one.put(history) is not None
    assert await other.put(stale.extended(Point(NOW, None))) is None

    again = await other.get("a/b #?")
    assert (again.points, again.maximum) == (history.points, 100_000)
    assert (await one.all())["a/b #?"].points == history.points
