"""The world of the host's tests: a real Azurite, the real host as a process, polling with deadlines."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import aiohttp
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueServiceClient

from local.azurite import Azurite
from local.patience import Patience
from local.process import Child, child

ROOT = Path(__file__).resolve().parents[3]
APP = Path(__file__).resolve().parent / "app"
#: For what the host does alike with both runtimes; this one runs on every Python.
ANY_RUNTIME = "sdk"
#: Seconds without any progress.
PATIENCE = 90.0
_PROBE = "import azure_functions_runtime, aiohttp, azure.storage.blob, azure.storage.queue, pydantic"


class Storage:
    """The account as a test sees it."""

    def __init__(self, azurite: Azurite, queues: QueueServiceClient, blobs: BlobServiceClient) -> None:
        self.azurite = azurite
        self.queues = queues
        self.blobs = blobs

    async def send(self, queue: str, *texts: str) -> None:
        client = self.queues.get_queue_client(queue)
        with suppress(ResourceExistsError):
            await client.create_queue()
        for text in texts:
            await client.send_message(text)

    async def upload(self, container: str, name: str, text: str) -> None:
        client = self.blobs.get_container_client(container)
        with suppress(ResourceExistsError):
            await client.create_container()
        await client.upload_blob(name, text.encode(), overwrite=True)

    async def read(self, container: str, name: str) -> str | None:
        try:
            download = await self.blobs.get_blob_client(container, name).download_blob()
            return (await download.readall()).decode()
        except ResourceNotFoundError:
            return None

    async def take(self, queue: str, expected: Callable[[str], bool], count: int = 1) -> list[str]:
        """Wait for `count` messages that are wanted; they are deleted, others left."""
        results: list[str] = []

        async def enough() -> bool:
            results.extend(await self._drain(queue, expected))
            return len(results) >= count

        await eventually(enough, lambda: f"{count} messages in {queue}, found {results}")
        return results

    async def _drain(self, queue: str, expected: Callable[[str], bool]) -> list[str]:
        client = self.queues.get_queue_client(queue)
        results = []
        with suppress(ResourceNotFoundError):
            async for message in client.receive_messages(visibility_timeout=1, max_messages=64):
                if expected(message.content):
                    await client.delete_message(message)
                    results.append(message.content)
                else:
                    await client.update_message(message, visibility_timeout=0)
        return results

    async def peek(self, queue: str) -> list[str]:
        with suppress(ResourceNotFoundError):
            return [
                m.content for m in await self.queues.get_queue_client(queue).peek_messages(max_messages=32)
            ]
        return []


@dataclass(frozen=True)
class Host:
    """A running host and a client for it."""

    runtime: str
    url: str
    process: Child
    http: aiohttp.ClientSession
    storage: Storage

    async def status(self, method: str, path: str, **options: str | bytes | dict[str, str]) -> int:
        headers = options.get("headers")
        assert headers is None or isinstance(headers, dict)
        async with self.http.request(method, self.url + path, headers=headers) as response:
            return response.status

    async def fire(self, function: str, values: str = "") -> int:
        async with self.http.post(
            f"{self.url}/admin/functions/{function}", json={"input": values}
        ) as response:
            return response.status


async def eventually(check: Callable[[], Awaitable[bool]], what: Callable[[], str]) -> None:
    """Poll until true; a failure says what was awaited, and what of it has happened."""
    patience = Patience(PATIENCE)
    while not await check():
        assert not patience.is_over(what()), f"nothing new for {PATIENCE:g} s: {what()}"
        await asyncio.sleep(0.03)


@asynccontextmanager
async def storage_of(azurite: Azurite) -> AsyncIterator[Storage]:
    async with AsyncExitStack() as stack:
        text = azurite.connection_string
        queues = await stack.enter_async_context(QueueServiceClient.from_connection_string(text))
        blobs = await stack.enter_async_context(BlobServiceClient.from_connection_string(text))
        yield Storage(azurite, queues, blobs)


def environment_of(storage: Storage, **more: str) -> dict[str, str]:
    """The environment of a host: nothing of the developer's own settings, all that the sample app needs."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **environment,
        "PYTHONPATH": str(ROOT),
        "AzureWebJobsStorage": storage.azurite.connection_string,
        "AzureFunctionsWebHost__hostid": "conformance",
        "FAN_QUEUE": "fan",
        "TICK": "0 0 0 1 1 *",
        "AzureWebJobs.switched_off.Disabled": "true",
        "LOCAL_HOST_BLOB_SCAN_SECONDS": "0.2",
        **more,
    }


@asynccontextmanager
async def running(
    runtime: str,
    storage: Storage,
    *,
    app: Path = APP,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Host]:
    """The host as a process, ready; stopped at the end of the block."""
    env = environment_of(storage) if environment is None else environment
    argv = [
        python_for(runtime) or sys.executable,
        "-m",
        "local.host",
        "--app",
        app,
        "--runtime",
        runtime,
        "--until-stdin-closes",
        "--grace=5",
        *arguments,
    ]
    async with child([str(a) for a in argv], name="host", env=env, cwd=ROOT) as process:
        url = (await process.line(r"^ready (\S+)"))[1]
        async with aiohttp.ClientSession() as http:
            yield Host(runtime, url, process, http, storage)


@cache
def python_for(runtime: str) -> str | None:
    """An interpreter that can run the runtime, found by running it; None if there is none."""
    if runtime == "sdk":
        return sys.executable
    for candidate in (sys.executable, os.environ.get("SLIPWAY_PYTHON313"), shutil.which("python3.13")):
        if (
            candidate
            and subprocess.run([candidate, "-c", _PROBE], capture_output=True, check=False).returncode == 0
        ):
            return candidate
    return None


def missing_for(runtime: str) -> str | None:
    """Why the runtime cannot be tested here, None if it can."""
    if python_for(runtime) is not None:
        return None
    return (
        f"runtime {runtime}: no Python 3.13 with azure-functions-runtime runs here (tried {sys.executable}, "
        "SLIPWAY_PYTHON313 and python3.13 on the path)"
    )
