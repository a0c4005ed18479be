"""Reads the files below a job's output directories through the API."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from slipway.client.calls.answers import FileChunk
from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered
from slipway.client.files.direct import Direct
from slipway.client.files.remote import Remote
from slipway.client.service import Service

#: Requests at once.
PARALLEL = 8
#: Bytes of a chunk; smaller through the API, whose worker holds several copies of each.
CHUNK, DIRECT_CHUNK = 2 << 20, 8 << 20
#: Chunks of all files that are requested and not yet written: what a download holds in memory.
_HELD = 2 * PARALLEL
#: The same for one file, so that requests run while earlier chunks are written; fewer through the API.
_AHEAD, _DIRECT_AHEAD = 3, _HELD


@dataclass(frozen=True)
class Bounds:
    """Limits that all files of one download share."""

    requests: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL))
    held: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_HELD))


async def chunks(
    api: Service, job_id: str, file: Remote, bounds: Bounds, start: int = 0, direct: Direct | None = None
) -> AsyncGenerator[FileChunk]:
    """The chunks of a file from `start` on, in order, several requested at once; from `direct` if possible.

    Raises Changed if the file changes meanwhile, and Failure.
    """
    reader = await direct.reader(file) if direct else None

    async def fetch(first: int, last: int, tag: str) -> FileChunk:
        async def ask() -> FileChunk:
            read = reader.read if reader else partial(_from_service, api, job_id, file)
            return await read(first, last, tag)

        await bounds.held.acquire()
        try:
            async with bounds.requests:
                return await patiently(ask)
        except BaseException:
            bounds.held.release()
            raise

    size, most = (DIRECT_CHUNK, _DIRECT_AHEAD) if reader else (CHUNK, _AHEAD)
    last = start + size - 1 if file.size > start else start - 1
    part = await fetch(start, last, "")
    tag, step, under_way = part.tag, part.count, list[asyncio.Task[FileChunk]]()
    ahead = iter(range(start + step, part.size, step) if step else ())
    try:
        while True:
            try:
                for first in islice(ahead, most - len(under_way)):
                    under_way.append(asyncio.create_task(fetch(first, first + step - 1, tag)))
                yield part
            finally:
                bounds.held.release()
            if not under_way:
                return
            part = await under_way[0]
            del under_way[0]
    finally:
        for task in under_way:
            if not task.cancel() and not task.cancelled() and not task.exception():
                bounds.held.release()


async def _from_service(
    api: Service, job_id: str, file: Remote, first: int, last: int, tag: str
) -> FileChunk:
    content = await api.content(job_id, file.directory, file.path, first, last, tag)
    if content.count < min(last + 1, content.size) - first and tag:
        raise Unanswered(f"{file.name}: an answer ended too early")
    return content
