"""The local twin of Event Grid, with a real storage emulator: which writes become which events."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from typing import Any

from azure.storage.blob import BlobBlock, BlobType
from azure.storage.blob.aio import BlobServiceClient, ContainerClient
from azure.storage.queue.aio import QueueClient

from local.azurite import azurite
from local.event_grid.topic import QUEUE, Delivery, Topic

OCTETS = "application/octet-stream"


async def events_of(queue: QueueClient, number: int) -> list[dict[str, Any]]:
    """The next events, in the order of the queue; the test's own time limit ends the wait."""
    events: list[dict[str, Any]] = []
    while len(events) < number:
        async for message in queue.receive_messages(messages_per_page=32):
            events.append(json.loads(b64decode(message.content)))
            await queue.delete_message(message)
        await asyncio.sleep(0.05)
    return events


async def write(container: ContainerClient) -> None:
    """Every operation that writes a blob, and some that write none."""
    small = container.get_blob_client("a b/ü.py")
    await small.upload_blob(b"print(1)", overwrite=True)
    large = container.get_blob_client("large.bin")
    await large.stage_block("1", b"x" * 10)
    await large.commit_block_list([BlobBlock("1")])
    await container.get_blob_client("copy.py").start_copy_from_url(small.url)
    await container.get_blob_client("grown.log").upload_blob(b"line", blob_type=BlobType.APPENDBLOB)
    await small.set_blob_metadata({"a": "b"})
    await large.delete_blob()


async def test_each_write_of_the_container_is_an_event_and_nothing_else_is() -> None:
    topic = Topic(Delivery())
    async with (
        azurite(on_write=topic.take) as account,
        BlobServiceClient.from_connection_string(account.connection_string) as blobs,
        QueueClient.from_connection_string(account.connection_string, QUEUE) as queue,
    ):
        other, scripts = [await blobs.create_container(name) for name in ("other", "scripts")]
        await other.upload_blob("none.py", b"")
        await write(scripts)
        async with topic.delivering(account.connection_string, ("scripts",)):
            await queue.create_queue()  # what Event Grid cannot deliver, it delivers later

            events = await events_of(queue, 4)

    data_of = {event["subject"].partition("/containers/")[2]: event["data"] for event in events}
    assert {subject: data["api"] for subject, data in data_of.items()} == {
        "scripts/blobs/a b/ü.py": "PutBlob",
        "scripts/blobs/large.bin": "PutBlockList",
        "scripts/blobs/copy.py": "CopyBlob",
        "scripts/blobs/grown.log": "PutBlob",
    }
    small = data_of["scripts/blobs/a b/ü.py"]
    assert (small["contentLength"], small["contentType"], small["blobType"]) == (8, OCTETS, "BlockBlob")
    assert small["url"].endswith("/scripts/a%20b/%C3%BC.py")
    assert all(data["eTag"].startswith("0x") and data["requestId"] for data in data_of.values())


async def test_copies_arrive_late_and_in_another_order() -> None:
    topic = Topic(Delivery(copies=3, delay=0.5))
    async with (
        azurite(on_write=topic.take) as account,
        BlobServiceClient.from_connection_string(account.connection_string) as blobs,
        QueueClient.from_connection_string(account.connection_string, QUEUE) as queue,
        topic.delivering(account.connection_string, ("scripts",)),
    ):
        await queue.create_queue()
        scripts = await blobs.create_container("scripts")
        for number in range(8):
            await scripts.upload_blob(f"{number}.py", b"")

        events = await events_of(queue, 24)

    ids = [event["id"] for event in events]
    assert {ids.count(one) for one in ids} == {3}
    arrived = [event["data"]["sequencer"] for event in events]
    assert arrived != sorted(arrived)
