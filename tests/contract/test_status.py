"""The line that is always current, against Azurite: what it costs, and that a late writer loses."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from azure.core.pipeline.transport import AioHttpTransport

from local.azurite import Azurite
from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.wire.connection import Account, Connection
from shared.core.errors import Misuse

pytestmark = pytest.mark.asyncio(loop_scope="session")
NAME = "digits/run/run-12345678/STATUS"


@dataclass
class Process:
    """One process of the app: its own memory of lines, and every request that it makes."""

    drops: BlobDrops
    account: Account
    requests: list[str] = field(default_factory=list)

    async def line(self, text: str, sequence: int, **how: Any) -> list[str]:
        """Write a line; the requests that it took."""
        self.requests.clear()
        await self.drops.put_status(NAME, text.encode(), sequence, **how)
        return list(self.requests)

    async def read(self) -> str:
        """The line as a person reads it."""
        result = await self.drops.read(NAME, limit=1000)
        return result[0].decode() if result else ""


@pytest_asyncio.fixture(loop_scope="session")
async def processes(storage: Azurite) -> AsyncIterator[list[Process]]:
    container = f"r{uuid.uuid4().hex[:12]}"
    result = [_process(storage, container) for _ in range(2)]
    await result[0].account.blobs.create_container(container)
    yield result
    for process in result:
        await process.account.close()


def _process(storage: Azurite, container: str) -> Process:
    requests: list[str] = []

    class Counting(AioHttpTransport):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            requests.append(request.method)
            return await super().send(request, **options)

    account = Account(Connection(storage.connection_string), Counting)
    # It reads back what it wrote: here the container of receipts is also the one of drops.
    return Process(BlobDrops(account, container, container, ()), account, requests)


async def test_each_transition_of_one_process_costs_one_write(processes: list[Process]) -> None:
    one, _ = processes
    assert await one.line("accepted", 2, fresh=True) == ["PUT"]
    assert await one.line("queued", 3) == ["PUT"]
    assert await one.line("running", 4) == ["PUT"]
    assert await one.read() == "running"


async def test_what_replaces_a_first_answer_costs_one_write_too(processes: list[Process]) -> None:
    one, two = processes
    await one.drops.put_receipt_file(NAME, b"accepted", replace=False)
    assert await one.line("queued", 3) == ["PUT"]
    assert await two.line("running", 4) == ["HEAD", "PUT"]
    await one.drops.put_receipt_file(NAME, b"accepted", replace=False)
    assert await one.line("queued", 3) == []
    assert await one.read() == "running"


async def test_a_line_that_stands_costs_nothing_and_another_process_looks_once(
    processes: list[Process],
) -> None:
    one, two = processes
    await one.line("queued", 3, fresh=True)

    assert await one.line("queued", 3) == []
    assert await two.line("queued", 3) == ["HEAD"]
    assert await two.line("queued", 3) == []


async def test_a_late_writer_loses_also_with_an_old_memory(processes: list[Process]) -> None:
    one, two = processes
    await one.line("accepted", 2, fresh=True)
    await two.line("running", 4)

    assert await one.line("queued", 3) == ["PUT", "HEAD"]

    assert await one.read() == "running"
    assert await two.line("succeeded", 5) == ["PUT"]


async def test_a_first_line_that_comes_late_loses_too(processes: list[Process]) -> None:
    one, two = processes
    await two.line("queued", 3)
    assert await one.line("accepted", 2, fresh=True) == ["PUT", "HEAD"]
    assert await one.read() == "queued"


async def test_of_many_writers_at_once_the_newest_line_stands(processes: list[Process]) -> None:
    one, two = processes
    writers = [(one, two)[n % 2].drops.put_status(NAME, f"line {n}".encode(), n) for n in range(1, 9)]
    await asyncio.gather(*writers)
    assert await one.read() == "line 8"


async def test_the_container_is_made_for_the_first_line(storage: Azurite) -> None:
    process = _process(storage, f"n{uuid.uuid4().hex[:12]}")
    await process.line("accepted", 2, fresh=True)
    assert await process.read() == "accepted"
    await process.account.close()


async def test_a_spec_is_never_read_from_the_container_of_receipts(storage: Azurite) -> None:
    account = Account(Connection(storage.connection_string))
    drops = BlobDrops(account, "scripts", "runs", ("scripts", "runs"))
    with pytest.raises(Misuse, match="may not be read"):
        await drops.read_reference("runs/x/receipt.json", limit=1000)
    await account.close()
