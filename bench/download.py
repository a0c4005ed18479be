"""Downloads of what a job wrote: the same bytes in one file and in many, and the memory of the worker.

Bare: ranged GETs of the blobs by their addresses, as many at once, each part written as it comes, as by
`curl --range --output`. Discarded: the same, thrown away; these two take turns at being first, as storage
has read nothing then. Direct: `slipway download`, which lists the files and reads storage itself. Through
the app: the same without addresses. Callers: several at once, each of which asks the app for as much as one
answer may hold.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil

from bench.world import QUIET, World, disk, world
from shared.operate.files.output import MOST_BYTES
from slipway.client.calls.answers import AddressPage
from slipway.client.calls.patience import patiently
from slipway.client.files.output import DIRECT_CHUNK, PARALLEL
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service
from slipway.commands.download.download import fetch
from slipway.stack.provision import Plan

#: Of the container: what the nodes ask of it is not counted.
_CONTAINER = "datalake-bench"
_SETTINGS = {
    **QUIET,
    "SLIPWAY_ADDRESS_MINUTES": "60",
    "SLIPWAY_MOUNTABLE": _CONTAINER,
    "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
}
_MB = 1e6
#: Callers at once that read whole answers through the app, and how many each reads.
_CALLERS, _READS = 8, 4
#: Whether the bare reads are kept, in the order of a round.
_ORDERS = itertools.cycle([(False, True), (True, False)])
#: Writes `one/0` with that many bytes, and the same bytes split into files.
_WRITES = """set -e; cd "$AZ_BATCHAI_OUTPUT_OUT"; mkdir one many
head -c {bytes} /dev/urandom > one/0
split --bytes={part} --suffix-length=6 --numeric-suffixes one/0 many/
"""


class _WithoutAddresses(Service):
    """A client of a deployment without addresses."""

    async def addresses(self, job_id: str, directory: str, path: str, after: str = "") -> AddressPage | None:
        return None


@dataclass(frozen=True)
class _Bench:
    """A running stack, and the job that wrote the files."""

    stack: World
    http: aiohttp.ClientSession
    job: str

    def service(self, kind: type[Service] = Service) -> Service:
        return kind(self.http, self.stack.running.host_url)


async def download(megabytes: float, files: int) -> dict[str, float]:
    """Measure each kind of download, for the one file and for the many."""
    figures, order = dict[str, float](), next(_ORDERS)
    async with _written(int(megabytes * _MB), files) as bench:
        idle = bench.stack.worker.memory_info().rss
        for folder in ("one", "many"):
            for to_disk in order:
                async with _empty_folder() as to:
                    seconds = await _bare(bench, folder, to if to_disk else None)
                figures[f"{folder} {'bare' if to_disk else 'discarded'} MB/s"] = megabytes / seconds
            figures[f"{folder} direct MB/s"] = megabytes / await _saved(bench, bench.service(), folder)
            async with memory(bench.stack.worker) as peak:
                seconds = await _saved(bench, bench.service(_WithoutAddresses), folder)
            figures[f"{folder} through the app MB/s"] = megabytes / seconds
            figures[f"{folder} worker MiB above idle"] = (max(peak) - idle) / (1 << 20)
        async with memory(bench.stack.worker) as peak:
            await asyncio.gather(*(_read(bench) for _ in range(_CALLERS)))
        figures["callers worker MiB above idle"] = (max(peak) - idle) / (1 << 20)
    return {f"download {name}": figure for name, figure in figures.items()}


async def _read(bench: _Bench) -> None:
    """Read the beginning of the one file through the app, in answers as large as they may be."""
    for _ in range(_READS):
        await patiently(lambda: bench.service().content(bench.job, "OUT", "one/0", 0, MOST_BYTES - 1))


@asynccontextmanager
async def _written(size: int, files: int) -> AsyncIterator[_Bench]:
    async with world(noop=False, settings=_SETTINGS, plan=Plan(minimum=1, maximum=1)) as stack:
        key = {"x-functions-key": stack.running.settings.get("LOCAL_HOST_FUNCTION_KEY", "")}
        async with aiohttp.ClientSession(headers=key) as http:
            service = Service(http, stack.running.host_url)
            await make_container(stack.storage, _CONTAINER)
            job = await service.submit(_document(size, files).encode())
            while (state := (await service.job(job["id"]))["state"]) not in ENDED:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
            if state != "succeeded":
                raise RuntimeError(f"the job that writes {state}; see {stack.running.logs}")
            yield _Bench(stack, http, job["id"])


async def make_container(storage: str, name: str) -> None:
    """Create a container."""
    from azure.storage.blob.aio import BlobServiceClient

    async with BlobServiceClient.from_connection_string(storage) as blobs:
        await blobs.create_container(name)


def _document(size: int, files: int) -> str:
    import json

    mount = {"accountName": "devstoreaccount1", "containerName": _CONTAINER, "relativeMountPath": "out"}
    output = {"id": "OUT", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"}
    command = _WRITES.format(bytes=size, part=max(1, -(-size // files)))
    properties = {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": command},
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "mountVolumes": {"azureBlobFileSystems": [mount]},
        "outputDirectories": [output],
    }
    return json.dumps({"properties": properties})


async def _bare(bench: _Bench, folder: str, to: Path | None) -> float:
    """Seconds of bare ranged GETs, into files of a directory or into nothing."""
    urls = await _addresses(bench, folder)
    ranges = iter([
        (number, url, at)
        for number, (url, size) in enumerate(urls)
        for at in range(0, size, DIRECT_CHUNK)
    ])  # fmt: skip
    began = time.perf_counter()

    async def worker(http: aiohttp.ClientSession) -> None:
        for number, url, at in ranges:
            headers, end = {"Range": f"bytes={at}-{at + DIRECT_CHUNK - 1}"}, at
            fd = os.open(to / str(number), os.O_WRONLY | os.O_CREAT) if to else None
            async with http.get(url, headers=headers, raise_for_status=True) as answer:
                async for part in answer.content.iter_any():
                    end += os.pwrite(fd, part, end) if fd is not None else len(part)
            if fd is not None:
                os.close(fd)

    async with aiohttp.ClientSession() as http:
        await asyncio.gather(*(worker(http) for _ in range(PARALLEL)))
    return time.perf_counter() - began


async def _addresses(bench: _Bench, folder: str) -> list[tuple[str, int]]:
    result, after, more = list[tuple[str, int]](), "", True
    while more:
        page = await bench.service().addresses(bench.job, "OUT", folder, after)
        if page is None:
            raise RuntimeError("the deployment gives no addresses")
        result += [(blob.url, blob.size) for blob in page.blobs.values()]
        after, more = page.next, bool(page.next)
    return result


async def _saved(bench: _Bench, service: Service, folder: str) -> float:
    """Seconds of a download, the list of files included."""
    async with _empty_folder() as to:
        began = time.perf_counter()
        fetched = await fetch(service, bench.job, ["OUT"], [f"OUT/{folder}"], to)
        if fetched.failed or not fetched.outcome.saved:
            raise RuntimeError(f"{fetched.failed[:3]}")
        return time.perf_counter() - began


@asynccontextmanager
async def _empty_folder() -> AsyncIterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="slipway-bench-", dir=disk()))
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


@asynccontextmanager
async def memory(process: psutil.Process) -> AsyncIterator[Sequence[int]]:
    """Resident memory of the process, sampled during the block."""
    sizes = [process.memory_info().rss]

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.05)
            sizes.append(process.memory_info().rss)

    task = asyncio.create_task(watch())
    try:
        yield sizes
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
