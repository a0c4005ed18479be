"""A folder of many small files dropped at once, and what everybody else notices of it.

The files lie directly in one folder, with a script and a job.json between them, and every write raises its
event. Meanwhile another sender submits one job after the other, by the API and by the queue, a reader asks
for lists, and the worker notes the longest time for which its event loop was busy with one thing. It ends
when the drop's job was recorded and the queue of events is empty.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bench.download import memory
from bench.job import SPEC
from bench.rest import Raw
from bench.world import QUIET, World, cpu, disk, world
from shared.core.identity import job_id
from shared.intake.candidate import key_of

#: As the local stack has it: the inventory lists the whole container.
_SETTINGS = {**QUIET, "SLIPWAY_INVENTORY_SECONDS": "30"}
_BODY = b"x" * 1000
#: How many files are uploaded at once, and seconds until it is given up.
_PARALLEL, _PATIENCE = 32, 600.0
#: Messages that the other sender may have in the queue at one time.
_OTHERS = 3
_MB = 1 << 20


@dataclass
class _Others:
    """What the others met: seconds until a job was accepted, by its door, and until a list came."""

    by_api: list[float] = field(default_factory=list)
    by_queue: list[float] = field(default_factory=list)
    lists: list[float] = field(default_factory=list)
    failed: int = 0


async def folders(files: int) -> dict[str, float]:
    """One drop of that many files of 1 kB."""
    with tempfile.TemporaryDirectory(prefix="slipway-bench-", dir=disk()) as folder:
        busy = Path(folder) / "busy"
        async with (
            world(noop=True, settings={**_SETTINGS, "BENCH_LOOP": str(busy)}, poll=1.0) as stack,
            aiohttp.ClientSession(stack.running.host_url, headers=_key(stack)) as http,
            Raw(stack.storage) as raw,
        ):
            await _accepted_by_api(http)  # everything is imported before anything is measured
            busy.unlink(missing_ok=True)
            figures = await _measured(stack, http, raw, files)
            figures["busy loop, longest ms"] = float(busy.read_text()) * 1000
            return {f"folder of {files} {name}": figure for name, figure in figures.items()}


def _key(stack: World) -> dict[str, str]:
    return {"x-functions-key": stack.running.settings.get("LOCAL_HOST_FUNCTION_KEY", "")}


async def _measured(stack: World, http: aiohttp.ClientSession, raw: Raw, files: int) -> dict[str, float]:
    idle, spent = stack.worker.memory_info().rss, cpu(stack.worker)
    before = Counter(stack.requests.lines)
    began, others = time.perf_counter(), _Others()
    async with memory(stack.worker) as worker, _watched(http, raw, others):
        uploaded = await _drop(stack, files)
        submitted = await _submitted(stack, http, f"many-{files}", began)
        await _drained(stack, began)
    quiet, counts = time.perf_counter() - began, stack.requests.lines_since(before)
    looked = sum(n for line, n in counts.items() if line.startswith(("GET scripts", "HEAD scripts")))
    return {
        "upload s": uploaded,
        "until submitted s": submitted,
        "until quiet s": quiet,
        "worker CPU s": cpu(stack.worker) - spent,
        "worker MiB": max(worker) / _MB,
        "worker MiB above idle": (max(worker) - idle) / _MB,
        "lists": sum(n for line, n in counts.items() if line in ("GET scripts", "GET scripts/")),
        "requests to the drop container per file": looked / files,
        "another's job by the API, slowest s": max(others.by_api, default=math.inf),
        "another's job by the queue, slowest s": max(others.by_queue, default=math.inf),
        "a list p95 ms": _p95(others.lists) * 1000,
        "failed requests": others.failed,
    }


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[math.ceil(len(seconds) * 0.95) - 1] if seconds else math.inf


async def _drop(stack: World, files: int) -> float:
    """Upload everything at once; seconds."""
    from azure.storage.blob.aio import BlobServiceClient

    folder, began = f"many-{files}", time.perf_counter()
    command = {"commandLine": f"python $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/train.py"}
    document = {"properties": {**SPEC["properties"], "customToolkitSettings": command}}
    names = [(f"{folder}/part-{number:05d}.txt", _BODY) for number in range(files)]
    names.insert(files // 3, (f"{folder}/job.json", json.dumps(document).encode()))
    names.insert(2 * files // 3, (f"{folder}/train.py", b"print(1)\n"))
    waiting = iter(names)
    async with BlobServiceClient.from_connection_string(stack.storage) as blobs:
        container = blobs.get_container_client("scripts")

        async def upload() -> None:
            for name, body in waiting:
                await container.get_blob_client(name).upload_blob(body, overwrite=True)

        await asyncio.gather(*(upload() for _ in range(_PARALLEL)))
    return time.perf_counter() - began


@asynccontextmanager
async def _watched(http: aiohttp.ClientSession, raw: Raw, others: _Others) -> AsyncIterator[None]:
    """The others, for the length of the block: each begins anew some time after it has its answer."""
    over = asyncio.Event()

    async def every(seconds: float, times: list[float], act: Callable[[], Awaitable[None]]) -> None:
        while not over.is_set():
            await _timed(others, times, act())
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await over.wait()

    tasks = [
        asyncio.create_task(every(0.5, others.by_api, lambda: _accepted_by_api(http))),
        asyncio.create_task(every(0.5, others.by_queue, lambda: _accepted_by_queue(http, raw))),
        asyncio.create_task(every(0.2, others.lists, lambda: _get(http, "/api/jobs?limit=10"))),
    ]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*tasks)


async def _timed(others: _Others, seconds: list[float], act: Awaitable[None]) -> None:
    began = time.perf_counter()
    try:
        await act
    except (aiohttp.ClientError, TimeoutError, RuntimeError):
        others.failed += 1
    seconds.append(time.perf_counter() - began)


async def _get(http: aiohttp.ClientSession, path: str) -> None:
    async with http.get(path, raise_for_status=True, timeout=aiohttp.ClientTimeout(60)) as answer:
        await answer.read()


async def _accepted_by_api(http: aiohttp.ClientSession) -> None:
    limit = aiohttp.ClientTimeout(60)
    async with http.post("/api/jobs", json=SPEC, raise_for_status=True, timeout=limit) as answer:
        await answer.read()


async def _accepted_by_queue(http: aiohttp.ClientSession, raw: Raw) -> None:
    """Send a message, and wait for its record."""
    key = uuid.uuid4().hex
    await raw.put("jobs", json.dumps({"spec": SPEC, "idempotencyKey": key}).encode())
    until = time.perf_counter() + _PATIENCE
    while time.perf_counter() < until:
        await asyncio.sleep(0.25)
        with suppress(aiohttp.ClientError, TimeoutError):
            await _get(http, f"/api/jobs/{job_id(key_of('queue', key), 1)}")
            return
    raise TimeoutError


async def _submitted(stack: World, http: aiohttp.ClientSession, folder: str, began: float) -> float:
    """Seconds until the drop's job is recorded."""
    while time.perf_counter() < began + _PATIENCE:
        with suppress(aiohttp.ClientError, TimeoutError):
            async with http.get("/api/jobs", params={"experiment": folder}, raise_for_status=True) as answer:
                if (await answer.json())["jobs"]:
                    return time.perf_counter() - began
        await asyncio.sleep(0.25)
    raise TimeoutError(f"the drop started no job; see {stack.running.logs}")


async def _drained(stack: World, began: float) -> None:
    """Wait until no event is left, three times in a row: a delayed look is a message, too."""
    from azure.storage.queue.aio import QueueClient

    empty = 0
    async with QueueClient.from_connection_string(stack.storage, "jobs") as queue:
        while empty < 3:
            if time.perf_counter() > began + _PATIENCE:
                raise TimeoutError(f"events are left; see {stack.running.logs}")
            waiting = (await queue.get_queue_properties()).approximate_message_count
            empty = 0 if waiting and waiting > _OTHERS else empty + 1
            await asyncio.sleep(0.5)
