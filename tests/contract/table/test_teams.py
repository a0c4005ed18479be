"""The document of teams: one suite over the service (Azurite) and memory."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from local.azurite import Azurite
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.teams import TableTeams
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.teams.document import MAX_BYTES, Teams, as_json
from tests.doubles.memory import MemoryLedger


@pytest.fixture(params=["memory", "table"])
async def port(request: pytest.FixtureRequest, storage: Azurite) -> AsyncIterator[TableTeams]:
    if request.param == "memory":
        yield TableTeams(MemoryLedger(lambda: datetime.now(UTC)).store)
        return
    account = Account(Connection(storage.connection_string))
    yield TableTeams(ShardedTable(RestTable(account, f"t{uuid.uuid4().hex[:20]}"), 4))
    await account.close()


def _teams(name: str = "vision", size: int = 1) -> Teams:
    members = [{"user": f"ü{number:06d}", "manager": True} for number in range(size)]
    return Teams.model_validate({"default": name, "teams": {name: {"members": members}}})


async def test_there_is_none_at_first_and_then_the_one_that_was_written(port: TableTeams) -> None:
    assert await port.get() is None
    written = await port.put(_teams(), "")

    assert written is not None
    assert await port.get() == written


async def test_of_two_writers_one_is_refused(port: TableTeams) -> None:
    first = await port.put(_teams(), "")
    assert first is not None
    assert await port.put(_teams("speech"), "") is None
    second = await port.put(_teams("speech"), first.etag)

    assert second is not None
    assert await port.put(_teams("third"), first.etag) is None
    assert await port.get() == second


async def test_a_document_of_the_largest_size_is_kept_and_a_shorter_one_after_it(port: TableTeams) -> None:
    large = _teams(size=5_000)
    assert len(str(as_json(large))) > MAX_BYTES // 2
    first = await port.put(large, "")
    assert first is not None
    assert await port.get() == first

    second = await port.put(_teams(), first.etag)

    assert await port.get() == second
