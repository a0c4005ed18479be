"""Canaries through every door of the whole stack: in nothing that is stored, sent, answered or logged."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from pathlib import Path

import pytest
from azure.data.tables.aio import TableServiceClient

from tests.acceptance.door import Door, eventually, shell, unique
from tests.breadth import one_each, pairs
from tests.canary import CANARY, NUMBER, documents, envelopes, texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Runs on the cluster, which gets every secret; fails, so that its last lines are read.
FAILS = 'echo "$SECRET $MY_TOKEN --token={0} https://a.example.com/x?sig={0}" >&2; exit 3'
#: Containers that hold what people dropped, and what the cluster wrote for a job.
THEIRS = ("scripts", "logs")


async def test_no_canary_is_seen_from_outside(door: Door) -> None:
    name = unique("canary")
    bodies = [
        *(json.dumps(document).encode() for _, document in one_each(documents(), _kind)),
        *(json.dumps(each).encode() for _, each in envelopes(shell("true"), door.stack.receiver_url)),
        *(body for _, body in texts()),
    ]
    answers: list[object] = [await door.call("POST", way, bodies[0]) for way in ("validate", "explain")]
    arrivals = pairs(bodies, ("API", "queue", "drop"))
    for number, (body, way) in enumerate(arrivals):
        if way == "API":
            answers.append(await door.call("POST", "jobs", body))
        elif way == "queue":
            await door.send(body)
        else:
            await door.drop(f"{name}/{number}/job.json", body)
    answers += await _with_strange_headers(door)
    answers.append(await door.call("POST", "jobs", _failing(door, name)))

    await _all_answered(door, name, [way for _, way in arrivals].count("drop"))
    job = await door.ended(name=name)
    assert (job["state"], job["exitCode"]) == ("failed", 3)
    await door.event(name, "io.slipway.job.failed.v1")
    receipt = await eventually(lambda: door.receipt_file(job["receipt"].removeprefix("runs/")), "the receipt")
    assert b"lastLines" in receipt
    assert b"***" in receipt

    places = {"answers": str(answers), "jobs": str(await door.jobs())}
    places |= await _tables(door) | await _blobs(door) | await _queues(door) | await _files(door)
    places["events"] = str(await door.events(name))
    assert len(places) > 20
    assert [place for place, text in places.items() if CANARY in text or str(NUMBER) in text] == []


def _kind(named: tuple[str, object]) -> str:
    """Members that the format does not know are alike, wherever they stand."""
    return named[0].partition(" of ")[0] if named[0].startswith("unknown member") else named[0]


def _failing(door: Door, name: str) -> dict[str, object]:
    secret = {"name": "SECRET", "value": f"{CANARY}1"}
    plain = {"name": "MY_TOKEN", "value": f"{CANARY}2"}
    spec = shell(FAILS.format(f"{CANARY}3"), secrets=[secret], environmentVariables=[plain])
    return {"name": name, "spec": spec, "notify": [door.hook(name, f"?token={CANARY}4")]}


async def _with_strange_headers(door: Door) -> list[object]:
    return [
        await door.call("GET", "jobs", x_functions_key=CANARY),
        await door.call("GET", f"jobs?code={CANARY}", Authorization=f"Bearer {CANARY}"),
        await door.call("POST", "jobs", b"{", Idempotency_Key=CANARY, X_Strange=CANARY, Cookie=f"a={CANARY}"),
        await door.call("GET", "jobs/j_nothing", Authorization=f"Basic {CANARY}", traceparent=CANARY),
    ]


async def _all_answered(door: Door, name: str, count: int) -> None:
    records: list[str] = []

    async def check() -> bool | None:
        waiting = await door.queues.get_queue_client("jobs").get_queue_properties()
        folders = {file.split("/")[1] for file in await door.receipt_files(name)}
        records[:] = [str(waiting.approximate_message_count), *sorted(folders)]
        return True if not waiting.approximate_message_count and len(folders) == count else None

    await eventually(check, "a receipt for each drop, and an empty queue", records)


async def _tables(door: Door) -> dict[str, str]:
    members: dict[str, str] = {}
    async with TableServiceClient.from_connection_string(door.stack.storage.connection_string) as tables:
        async for table in tables.list_tables():
            rows = [row async for row in tables.get_table_client(table.name).list_entities()]
            members |= {f"table {table.name}: {row['RowKey']}": str(row) for row in rows}
    return members


async def _blobs(door: Door) -> dict[str, str]:
    members: dict[str, str] = {}
    async for container in door.blobs.list_containers():
        if container.name in THEIRS:
            continue
        client = door.blobs.get_container_client(container.name)
        names = [name async for name in client.list_blob_names()]
        bodies = await asyncio.gather(*(_read(door, container.name, name) for name in names))
        members |= {f"blob {container.name}/{name}": body for name, body in zip(names, bodies, strict=True)}
    return members


async def _read(door: Door, container: str, name: str) -> str:
    download = await door.blobs.get_blob_client(container, name).download_blob()
    return f"{name} {(await download.readall()).decode('utf-8', 'replace')}"


async def _queues(door: Door) -> dict[str, str]:
    members: dict[str, str] = {}
    async for queue in door.queues.list_queues():
        peeked = await door.queues.get_queue_client(queue.name).peek_messages(max_messages=32)
        members[f"queue {queue.name}"] = str([_plain(message.content) for message in peeked])
    return members


def _plain(text: str) -> str:
    try:
        return text + base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


async def _files(door: Door) -> dict[str, str]:
    """What every process of the stack wrote: host with the app, emulator, receiver."""
    files: list[Path] = [*door.stack.logs.glob("*.log"), door.stack.deliveries]
    assert {"host.log", "emulator.log", "receiver.log"} <= {file.name for file in files}
    assert "accept_message" in (door.stack.logs / "host.log").read_text()
    return {f"file {file.name}": file.read_text(errors="replace") for file in files}
