"""The topic of the local storage account: delivers its events to the queue `jobs`."""

from __future__ import annotations

import asyncio
import json
import random
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from azure.core.exceptions import AzureError
from azure.storage.queue.aio import QueueClient

from local.event_grid.blob_created import APIS, Write, blob_created, read_write

QUEUE = "jobs"
#: Seconds until a message that could not be sent is sent again, and the most of them.
_RETRY, _MOST_RETRY = 0.5, 30.0
_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How the topic delivers: Event Grid promises each event at least once, at some time, in any order."""

    #: of each event
    copies: int = 1
    #: Seconds; each copy is sent after a random part of them, so that copies overtake each other.
    delay: float = 0.0


class Topic:
    """Takes the lines of Azurite's process, and sends the events of some containers."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        self._writes: asyncio.Queue[Write] = asyncio.Queue()
        self._dice = random.SystemRandom()

    def take(self, line: str) -> None:
        """Keep the write that a line reports, until it is delivered."""
        if write := read_write(line):
            self._writes.put_nowait(write)

    @asynccontextmanager
    async def delivering(self, connection_string: str, containers: Collection[str]) -> AsyncIterator[None]:
        """Deliver the events of containers for the length of the block, those of earlier writes included.

        Events that are not sent by then are left to the inventory.
        """
        async with QueueClient.from_connection_string(
            connection_string, QUEUE, use_env_settings=False, retry_total=0
        ) as queue:
            task = asyncio.create_task(self._deliver(queue, containers), name="events of storage")
            try:
                yield
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _deliver(self, queue: QueueClient, containers: Collection[str]) -> None:
        free = asyncio.Semaphore(_AT_ONCE)
        async with asyncio.TaskGroup() as tasks:
            while True:
                write = await self._writes.get()
                if write.container not in containers or write.data["api"] not in APIS:
                    continue
                event = blob_created(write, datetime.now(UTC), time.time_ns())
                text = b64encode(json.dumps(event, separators=(",", ":")).encode()).decode()
                for _ in range(self._delivery.copies):
                    delay = self._dice.uniform(0, self._delivery.delay)
                    tasks.create_task(_send(queue, text, delay, free))


async def _send(queue: QueueClient, text: str, delay: float, free: asyncio.Semaphore) -> None:
    """Send one copy until the queue has it: it may not exist yet."""
    await asyncio.sleep(delay)
    pause = _RETRY
    while True:
        try:
            async with free:
                await queue.send_message(text)
            return
        except AzureError:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST_RETRY)
