"""The floor: the storage calls of the natural journey with nothing around them, raw and through the SDK.

put · receive 32 · insert the record · merge `running` · delete · merge `done` · put the event · receive 32 ·
delete. Sixteen jobs at once, as many as a worker has in hand; and four bare calls one after the other.
"""

from __future__ import annotations

import asyncio
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from bench.job import MESSAGE
from bench.rest import Raw

_AT_ONCE = 16
_RECORD = MESSAGE.decode()


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

        await journey(32)
        start = time.perf_counter()
        for _ in range(max(1, number // 100)):
            await journey(min(100, number))
        spent = time.perf_counter() - start
        return {"floor raw jobs/s": max(1, number // 100) * min(100, number) / spent} | await _four(
            raw, jobs, table
        )


async def _four(raw: Raw, queue: str, table: str) -> dict[str, float]:
    """put, receive, insert, merge: the round trips that no message → webhook can do without."""
    found = []
    for _ in range(60):
        start = time.perf_counter()
        await raw.put(queue, MESSAGE)
        messages = await raw.receive(queue)
        key = uuid.uuid4().hex
        etag = await raw.insert(table, {"PartitionKey": "s", "RowKey": key, "Record": _RECORD})
        await raw.merge(table, "s", key, {"State": "succeeded"}, etag)
        found.append(time.perf_counter() - start)
        await raw.delete(queue, messages[0])
    return {"four round trips p50 ms": statistics.median(found) * 1000}


async def _drain(raw: Raw, queue: str, work: Callable[[Any], Awaitable[None]] | None) -> None:
    while messages := await raw.receive(queue):

        async def one(message: tuple[str, str]) -> None:
            if work is not None:
                await work(message)
            await raw.delete(queue, message)

        await _each([one(message) for message in messages])


async def sdk_floor(storage: str, number: int) -> dict[str, float]:
    """The same calls through the storage SDKs."""
    from azure.core import MatchConditions
    from azure.data.tables import UpdateMode
    from azure.data.tables.aio import TableServiceClient
    from azure.storage.queue.aio import QueueServiceClient

    queues = QueueServiceClient.from_connection_string(storage)
    tables = TableServiceClient.from_connection_string(storage)
    name = uuid.uuid4().hex[:12]
    jobs, events = queues.get_queue_client(f"j{name}"), queues.get_queue_client(f"e{name}")
    await jobs.create_queue()
    await events.create_queue()
    table = await tables.create_table(f"t{name}")
    text = _RECORD

    async def record() -> None:
        key = uuid.uuid4().hex
        row = {"PartitionKey": f"s{key[0]}", "RowKey": key, "State": "accepted", "Record": text}
        done = await table.create_entity(row)
        for state in ("running", "succeeded"):
            change = {"PartitionKey": row["PartitionKey"], "RowKey": key, "State": state}
            done = await table.update_entity(
                change,
                mode=UpdateMode.MERGE,
                etag=done["etag"],
                match_condition=MatchConditions.IfNotModified,
            )

    async def drain(queue: Any, work: Callable[[], Awaitable[None]] | None) -> None:
        while True:
            pages = queue.receive_messages(messages_per_page=32, visibility_timeout=60).by_page()
            try:
                messages = [message async for message in await anext(pages)]
            except StopAsyncIteration:
                return

            async def one(message: Any) -> None:
                if work is not None:
                    await work()
                await queue.delete_message(message)

            await _each([one(message) for message in messages])

    async def journey(count: int) -> None:
        await _each([jobs.send_message(text) for _ in range(count)])
        await drain(jobs, record)
        await _each([events.send_message(text[:600]) for _ in range(count)])
        await drain(events, None)

    try:
        await journey(32)
        start = time.perf_counter()
        for _ in range(max(1, number // 100)):
            await journey(min(100, number))
        spent = time.perf_counter() - start
    finally:
        await queues.close()
        await tables.close()
    return {"floor SDK jobs/s": max(1, number // 100) * min(100, number) / spent}


async def _each(acts: list[Any]) -> None:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(act: Awaitable[Any]) -> None:
        async with gate:
            await act

    await asyncio.gather(*(one(act) for act in acts))
