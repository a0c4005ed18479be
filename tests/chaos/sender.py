"""Jobs through every door, one to three copies of each, as impatient clients send them."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
from azure.storage.blob.aio import BlobServiceClient
from azure.storage.queue.aio import QueueServiceClient

from local.stack import Stack
from shared.intake.reading.event import SUBMIT
from tests.chaos.person import Person

#: Messages that may wait in the queue: Azurite sorts all of them at each request.
_DEPTH = 300
_AT_ONCE = 16
#: What the receiver does to the first delivery of an event; most go through.
_TROUBLES = ("", "", "", "", "?status=503&times=1", "?status=500&times=1", "?reset=1&times=1")
#: It takes every event, in answers that strict clients refuse: taken for failures, these would never settle.
_TAKES = ("?header=9000", "?headers=200", "?lengths=1")
_HANGS = "?hang=20&times=1"


class Sender:
    """Sends numbered jobs; `acknowledged` are the names of those that a door took."""

    def __init__(
        self, stack: Stack, person: Person, command: str, dice: random.Random, gangs: int = 0
    ) -> None:
        """`person` sends some of them; `gangs`: one of so many jobs is on two nodes; 0: none."""
        self.acknowledged: list[str] = []
        self._stack, self._person = stack, person
        self._command = command
        self._dice = dice
        self._gangs = gangs
        text = stack.storage.connection_string
        self._blobs = BlobServiceClient.from_connection_string(text)
        self._queues = QueueServiceClient.from_connection_string(text)
        self._jobs = self._queues.get_queue_client("jobs")

    async def send(self, count: int) -> None:
        """Send that many jobs, each through a door that the dice choose."""
        slots, person = asyncio.Semaphore(_AT_ONCE), self._person
        async with self._blobs, self._queues, aiohttp.ClientSession(self._stack.host_url) as http:
            doors: list[Callable[[str], Awaitable[None]]] = [
                *[self._message] * 3,
                lambda name: self._request(http, name),
                lambda name: self._event(http, name),
                self._drop,
                lambda name: person.submit(self._whole(name)),
                lambda name: person.enqueue(self._whole(name)),
            ]

            async def one(number: int) -> None:
                name = f"chaos-{number:05d}"
                async with slots:
                    await self._dice.choice(doors)(name)
                    self.acknowledged.append(name)

            for at in range(0, count, _AT_ONCE * 4):
                await self._room()
                await asyncio.gather(*(one(n) for n in range(at, min(at + _AT_ONCE * 4, count))))

    async def _room(self) -> None:
        while True:
            waiting = (await self._jobs.get_queue_properties()).approximate_message_count or 0
            if waiting < _DEPTH:
                return
            await asyncio.sleep(0.5)

    def _copies(self) -> int:
        return self._dice.randint(1, 3)

    def _envelope(self, name: str) -> dict[str, Any]:
        trouble = _HANGS if self._dice.random() < 0.01 else self._dice.choice(_TROUBLES + _TAKES)
        hook = f"{self._stack.receiver_url}/hooks/{name}{trouble}"
        return {"name": name, "notify": [{"url": hook}]}

    def _whole(self, name: str) -> dict[str, Any]:
        return {**self._envelope(name), "spec": self._spec()}

    def _spec(self) -> dict[str, Any]:
        nodes = 2 if self._gangs and self._dice.randrange(self._gangs) == 0 else 1
        return {"properties": {"nodeCount": nodes, "customToolkitSettings": {"commandLine": self._command}}}

    async def _message(self, name: str) -> None:
        body = {**self._whole(name), "idempotencyKey": name}
        for _ in range(self._copies()):
            await self._put(body)

    async def _put(self, body: dict[str, Any]) -> None:
        await self._jobs.send_message(base64.b64encode(json.dumps(body).encode()).decode())

    async def _request(self, http: aiohttp.ClientSession, name: str) -> None:
        body, headers = self._whole(name), {"Idempotency-Key": name}
        await asyncio.gather(*(self._post(http, body, headers) for _ in range(self._copies())))

    async def _event(self, http: aiohttp.ClientSession, name: str) -> None:
        """A CloudEvent in binary mode, as brokers deliver it: again, with the same source and id."""
        kind = {"ce-specversion": "1.0", "ce-type": SUBMIT, "ce-source": "/chaos", "ce-id": name}
        body = self._whole(name)
        await asyncio.gather(*(self._post(http, body, kind) for _ in range(self._copies())))

    async def _post(
        self, http: aiohttp.ClientSession, body: dict[str, Any], headers: Mapping[str, str]
    ) -> None:
        """Ask until the answer says that the job is kept: the worker may die while we wait."""
        while True:
            try:
                async with http.post("/api/jobs", json=body, headers=headers) as answer:
                    if answer.status in (200, 202):
                        return
                    if 400 <= answer.status < 500 and answer.status not in (408, 429):
                        raise RuntimeError(f"{body['name']}: {answer.status} {await answer.text()}")
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.5)

    async def _drop(self, name: str) -> None:
        """A folder by the container, and one to three events that say so, beside the scan of the host."""
        files = {"job.json": self._spec(), "slipway.json": self._envelope(name)}
        for file, content in files.items():
            blob = self._blobs.get_blob_client("scripts", f"{name}/{file}")
            await blob.upload_blob(json.dumps(content).encode(), overwrite=True)
        event = {
            "specversion": "1.0",
            "id": str(uuid.uuid4()),
            "source": "/chaos",
            "type": "Microsoft.Storage.BlobCreated",
            "subject": f"/blobServices/default/containers/scripts/blobs/{name}/job.json",
            "data": {},
        }
        for _ in range(self._copies()):
            await self._put(event)
