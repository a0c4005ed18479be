"""The front door as a person has it: storage clients, HTTP, and what comes back."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import cached_property
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueServiceClient

from local.patience import Patience
from local.stack import Stack
from tests.acceptance.prepared.server import Prepared

T = TypeVar("T")
#: Seconds without any progress.
PATIENCE = 120.0
ENDS = ("succeeded", "failed", "cancelled", "lost", "rejected")


class Door:
    """One person at every door of a running stack."""

    def __init__(self, running: Stack, key: str) -> None:
        self.stack = running
        self.key = key
        self.blobs = BlobServiceClient.from_connection_string(running.storage.connection_string)
        self.queues = QueueServiceClient.from_connection_string(running.storage.connection_string)
        self.http = aiohttp.ClientSession(running.host_url, headers={"x-functions-key": key})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "_prepared" in vars(self):
            self._prepared.close()
        await self.http.close()
        await self.blobs.close()
        await self.queues.close()

    @cached_property
    def _prepared(self) -> Prepared:
        return Prepared()

    @property
    def slipway(self) -> tuple[str, ...]:
        """What stands for the command in a command line."""
        return self._prepared.command

    async def call(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, Any], dict[str, str]]:
        """Status, JSON (empty when there is none) and headers of one API call."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.request(method, f"/api/{path}", data=data, headers=named) as answer:
            text = await answer.text()
            with suppress(ValueError):
                return answer.status, json.loads(text), dict(answer.headers)
            return answer.status, {"text": text}, dict(answer.headers)

    async def send(self, body: Any, queue: str = "jobs", *, plain: bool = False) -> None:
        """Put one message on a queue."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        text = data.decode() if plain else base64.b64encode(data).decode()
        await self.queues.get_queue_client(queue).send_message(text)

    async def drop(self, name: str, body: Any) -> None:
        """Upload one file into the drop container."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.blobs.get_blob_client("scripts", name).upload_blob(data, overwrite=True)

    async def receipt_file(self, name: str) -> bytes | None:
        """A file of the container of receipts."""
        with suppress(ResourceNotFoundError):
            return await (await self.blobs.get_blob_client("runs", name).download_blob()).readall()
        return None

    async def receipt_files(self, folder: str) -> list[str]:
        """The names below a folder of the container of receipts."""
        container = self.blobs.get_container_client("runs")
        return [name async for name in container.list_blob_names(name_starts_with=f"{folder}/")]

    async def jobs(self, **expected: str) -> list[dict[str, Any]]:
        """The records of the jobs whose members are as wanted, newest first."""
        _, body, _ = await self.call("GET", "jobs?limit=200")
        result = [job for job in body["jobs"] if all(job.get(k) == v for k, v in expected.items())]
        return [(await self.call("GET", f"jobs/{job['id']}"))[1] for job in result]

    async def ended(self, **expected: str) -> dict[str, Any]:
        """Wait for the one job that is as wanted to end."""
        states: list[str] = []

        async def check() -> dict[str, Any] | None:
            jobs = await self.jobs(**expected)
            states[:] = [job["state"] for job in jobs]
            return next((job for job in jobs if job["state"] in ENDS), None)

        return await eventually(check, f"a job with {expected} to end", states)

    async def events(self, hook: str) -> list[dict[str, Any]]:
        """What the receiver got at a hook."""
        async with (
            aiohttp.ClientSession() as http,
            http.get(f"{self.stack.receiver_url}/received") as answer,
        ):
            return [event for event in await answer.json() if event["hook"] == hook]

    async def event(self, hook: str, type_: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for verified events of a type at a hook."""
        arrivals: list[str] = []

        async def check() -> list[dict[str, Any]] | None:
            events = await self.events(hook)
            arrivals[:] = [event["type"] for event in events]
            result = [event for event in events if event["type"] == type_]
            return result if len(result) >= count else None

        return await eventually(check, f"{count} events {type_} at {hook}", arrivals)

    def hook(self, name: str, query: str = "") -> dict[str, Any]:
        """A subscription at a hook of the receiver."""
        return {"url": f"{self.stack.receiver_url}/hooks/{name}{query}"}

    async def poisoned(self) -> list[str]:
        """What no one could process: poison queues with messages in them, and messages kept from them."""
        queues = [one.name async for one in self.queues.list_queues() if one.name.endswith("poison")]
        clients = [self.queues.get_queue_client(name) for name in queues]
        full = [
            one.queue_name for one in clients if (await one.get_queue_properties()).approximate_message_count
        ]
        _, body, _ = await self.call("GET", "dead")
        return [*full, *(one["id"] for one in body["dead"] if one["kind"] == "message")]


def unique(start: str) -> str:
    """A name that no other test uses."""
    return f"{start}-{uuid.uuid4().hex[:8]}"


def shell(command: str, **properties: Any) -> dict[str, Any]:
    """A job.json that runs one command on one node."""
    return {
        "properties": {
            "nodeCount": 1,
            "customToolkitSettings": {"commandLine": command},
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            **properties,
        }
    }


async def eventually(check: Callable[[], Awaitable[T | None]], what: str, progress: Iterable[str] = ()) -> T:
    """Poll another process until it shows something; fail with what was missing when nothing goes on.

    `progress` is what `look` saw on the way, which it keeps up to date.
    """
    patience = Patience(PATIENCE)
    while (result := await check()) is None:
        assert not patience.is_over(tuple(progress)), f"nothing new for {PATIENCE:g} s; waited for {what}"
        await asyncio.sleep(0.2)
    return result
