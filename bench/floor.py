"""The floor: the storage calls of the natural journey with nothing around them, raw and through the SDK.

put · receive 32 · insert the record · merge `running` · merge `succeeded` · delete · put the event ·
receive 32 · delete. Sixteen jobs at once; and four bare calls one after the other.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from bench.job import MESSAGE
from bench.rest import Raw

_AT_ONCE = 16
_RECORD = MESSAGE.decode()

Journey = Callable[[int], Awaitable[None]]


async def raw_floor(storage: str, number: int) -> dict[str, float]:
    """Jobs a second by raw HTTP, and the median milliseconds of four bare round trips."""
    async with Raw(storage) as raw:
        name = uuid.uuid4().hex[:12]
        jobs, events, table = f"j{name}", f"e{name}", f"t{name}"
        await raw.make_queue(jobs)
        await raw.make_queue(events)
        await raw.make_table(table)

        async def record(_: Any) -> None:
            key = uuid.uuid4().hex
            row = {"PartitionKey": f"s{key[0]}", "RowKey": key, "State": "accepted", "Record": _RECORD}
            etag = await raw.insert(table, row)
            etag = await raw.merge(table, row["PartitionKey"], key, {"State": "running"}, etag)
            await raw.merge(table, row["PartitionKey"], key, {"State": "succeeded"}, etag)

        async def journey(count: int) -> None:
            await _each([raw.put(jobs, MESSAGE) for _ in range(count)])
            await _drain(raw, jobs, record)
            await _each([raw.put(events, MESSAGE[:600]) for _ in range(count)])
            await _drain(raw, events, None)

        return {"floor raw jobs/s": await _rate(journey, number)}


class FourTrips:
    """put, receive, insert, merge: the round trips that no message → webhook can do without."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._queue, self._table = f"f{uuid.uuid4().hex[:12]}", f"f{uuid.uuid4().hex[:12]}"
        #: seconds of each time
        self.seconds: list[float] = []

    async def make(self) -> None:
        """Create the queue and the table that `go` writes to."""
        await self._raw.make_queue(self._queue)
        await self._raw.make_table(self._table)

    async def go(self) -> None:
        """Make the four calls, one after the other."""
        start = time.perf_counter()
        await self._raw.put(self._queue, MESSAGE)
        messages = await self._raw.receive(self._queue)
        key = uuid.uuid4().hex
        etag = await self._raw.insert(self._table, {"PartitionKey": "s", "RowKey": key, "Record": _RECORD})
        await self._raw.merge(self._table, "s", key, {"State": "succeeded"}, etag)
        self.seconds.append(time.perf_counter() - start)
        await self._raw.delete(self._queue, messages[0])


async def _rate(journey: Journey, number: int) -> float:
    """Journeys a second, in chunks: a deep queue is slow in Azurite."""
    await journey(32)
    chunks, chunk = max(1, number // 100), min(100, number)
    start = time.perf_counter()
    for _ in range(chunks):
        await journey(chunk)
    return chunks * chunk / (time.perf_counter() - start)


async def _drain(raw: Raw, queue: str, work: Callable[[Any], Awaitable[None]] | None) -> None:
    while messages := await raw.receive(queue):

        async def one(message: tuple[str, str]) -> None:
            if work is not None:
                await work(message)
            await raw.delete(queue, message)

        await _each([one(message) for message in messages])


async def sdk_floor(storage: str, number: int) -> dict[str, float]:
    """The same calls through the storage SDKs."""
    from azure.data.tables.aio import TableServiceClient
    from azure.storage.queue.aio import QueueServiceClient

    name = uuid.uuid4().hex[:12]
    async with (
        QueueServiceClient.from_connection_string(storage) as queues,
        TableServiceClient.from_connection_string(storage) as tables,
    ):
        jobs, events = queues.get_queue_client(f"j{name}"), queues.get_queue_client(f"e{name}")
        await jobs.create_queue()
        await events.create_queue()
        table = await tables.create_table(f"t{name}")

        async def journey(count: int) -> None:
            await _each([jobs.send_message(_RECORD) for _ in range(count)])
            await _sdk_drain(jobs, table)
            await _each([events.send_message(_RECORD[:600]) for _ in range(count)])
            await _sdk_drain(events, None)

        return {"floor SDK jobs/s": await _rate(journey, number)}


async def _sdk_record(table: Any) -> None:
    from azure.core import MatchConditions
    from azure.data.tables import UpdateMode

    key = uuid.uuid4().hex
    keys = {"PartitionKey": f"s{key[0]}", "RowKey": key}
    answer = await table.create_entity({**keys, "State": "accepted", "Record": _RECORD})
    for state in ("running", "succeeded"):
        answer = await table.update_entity(
            {**keys, "State": state},
            mode=UpdateMode.MERGE,
            etag=answer["etag"],
            match_condition=MatchConditions.IfNotModified,
        )


async def _sdk_drain(queue: Any, table: Any | None) -> None:
    while True:
        pages = queue.receive_messages(messages_per_page=32, visibility_timeout=60).by_page()
        try:
            messages = [message async for message in await anext(pages)]
        except StopAsyncIteration:
            return

        async def one(message: Any) -> None:
            if table is not None:
                await _sdk_record(table)
            await queue.delete_message(message)

        await _each([one(message) for message in messages])


async def _each(acts: list[Any]) -> None:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(act: Awaitable[Any]) -> None:
        async with gate:
            await act

    await asyncio.gather(*(one(act) for act in acts))
