"""What the chaos run stands on: storage that keeps what it acknowledged, however it is killed."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import psutil
import pytest
from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.data.tables.aio import TableServiceClient
from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueServiceClient

from local.azurite import azurite
from local.process import child
from tests.chaos.storage import MortalStorage

ROOT = Path(__file__).resolve().parents[2]
_WRITERS = 6


class _Writers:
    """Writers to table, queue and blobs, that remember what was acknowledged."""

    def __init__(self, account: str) -> None:
        self.written_names: set[str] = set()
        self.tables = TableServiceClient.from_connection_string(account, retry_total=0)
        self.queues = QueueServiceClient.from_connection_string(account, retry_total=0)
        self.blobs = BlobServiceClient.from_connection_string(account, retry_total=0)

    async def make(self) -> None:
        await self.tables.create_table("rows")
        await self.queues.create_queue("messages")
        await self.blobs.create_container("blobs")

    async def write(self, writer: int) -> None:
        """Until cancelled; what fails may have happened or not."""
        for number in range(1_000_000):
            name = f"{writer}-{number}"
            try:
                await self._one(writer % 3, name)
            except (AzureError, OSError):
                await asyncio.sleep(0.1)
            else:
                self.written_names.add(name)

    async def _one(self, kind: int, name: str) -> None:
        if kind == 0:
            await self.tables.get_table_client("rows").create_entity({"PartitionKey": "p", "RowKey": name})
        elif kind == 1:
            await self.queues.get_queue_client("messages").send_message(name)
        else:
            await self.blobs.get_blob_client("blobs", name).upload_blob(name.encode())

    async def count_found(self) -> set[str]:
        rows = {row["RowKey"] async for row in self.tables.get_table_client("rows").list_entities()}
        queue = self.queues.get_queue_client("messages")
        messages = {one.content async for one in queue.receive_messages(messages_per_page=32)}
        container = self.blobs.get_container_client("blobs")
        blobs = {blob.name async for blob in container.list_blobs()}
        for name in blobs & self.written_names:
            assert await (await container.download_blob(name)).readall() == name.encode()
        return rows | messages | blobs

    async def close(self) -> None:
        for client in (self.tables, self.queues, self.blobs):
            await client.close()


async def _lost(storage: MortalStorage, kills: int) -> set[str]:
    """What was acknowledged before some kills and is not there afterwards."""
    async with storage.running() as account:
        writers = _Writers(account.connection_string)
        try:
            await writers.make()
            for _ in range(kills):
                enough = len(writers.written_names) + 30
                writing = [asyncio.create_task(writers.write(n + 100 * enough)) for n in range(_WRITERS)]
                while len(writers.written_names) < enough:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.02)
                await storage.kill()
                await _cancelled(writing)
            return writers.written_names - await writers.count_found()
        except ResourceNotFoundError:
            return writers.written_names
        finally:
            await writers.close()


#: A process that runs Azurite, as `slipway up` does, and tells where.
_RUNS = """
import asyncio, sys
from pathlib import Path
from local.azurite import azurite

async def run():
    async with azurite(Path(sys.argv[1]), on_request=print) as storage:
        print("address", storage.pid, storage.connection_string, flush=True)
        await asyncio.sleep(3600)

asyncio.run(run())
"""


@pytest.mark.parametrize("goes_on", [False, True], ids=["then quiet", "its clients write on"])
async def test_storage_whose_starter_is_killed_keeps_all_that_it_acknowledged(
    tmp_path: Path, *, goes_on: bool
) -> None:
    """Its clients keep their connections open, as the workers of a host that was killed do."""
    async with child([sys.executable, "-c", _RUNS, tmp_path], name="the starter", cwd=ROOT) as starter:
        match = await starter.line(r"address (\d+) (\S+)")
        itself, writers = psutil.Process(int(match[1])), _Writers(match[2])
        try:
            await writers.make()
            writing = [asyncio.create_task(writers.write(n)) for n in range(_WRITERS)]
            while len(writers.written_names) < 60:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
            if not goes_on:
                await _cancelled(writing)
            starter.signal(signal.SIGKILL)
            await starter.wait()
            await asyncio.to_thread(psutil.wait_procs, [itself], timeout=60)
            await _cancelled(writing)
        finally:
            await writers.close()
    assert not itself.is_running(), "it ends by itself"
    async with azurite(tmp_path) as storage:
        again = _Writers(storage.connection_string)
        try:
            assert writers.written_names - await again.count_found() == set()
        finally:
            await again.close()


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_storage_that_is_killed_keeps_all_that_it_acknowledged(tmp_path: Path) -> None:
    assert await _lost(MortalStorage(tmp_path), kills=3) == set()


@pytest.mark.thorough
async def test_azurite_by_itself_takes_back_what_it_acknowledged(tmp_path: Path) -> None:
    """Why the chaos run needs more than a kill. Should this fail one day, durable.mjs may go."""
    assert await _lost(MortalStorage(tmp_path, preload=()), kills=1) != set()
