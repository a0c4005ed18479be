"""What a job wrote, read through the API: every file below its output directories, and their bytes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from slipway.client.direct import Direct
from slipway.client.refusal import Unanswered
from slipway.client.remote import Remote
from slipway.client.service import FileChunk, Service

Answer = TypeVar("Answer")
#: Requests at once.
PARALLEL = 8
#: Bytes of the chunks that a file is read in, fewer through the API: its worker holds some copies of each.
CHUNK, DIRECT_CHUNK = 2 << 20, 8 << 20
#: Chunks of one file that are asked for before they can be written.
_AHEAD = 3
#: Seconds without any answer after which a read is given up, and the longest wait between two tries.
_PATIENCE, _LONGEST_WAIT = 60.0, 8.0


async def chunks(
    api: Service, job_id: str, file: Remote, gate: asyncio.Semaphore, start: int = 0,
    direct: Direct | None = None,
) -> AsyncGenerator[FileChunk]:  # fmt: skip
    """The chunks of a file from `start` on, in order, some of them asked for at once; `direct` where it can.

    Raises Changed when the file changes in between, and Failure.
    """
    reader = await direct.reader(file) if direct else None

    async def fetch(first: int, last: int, tag: str) -> FileChunk:
        async def ask() -> FileChunk:
            if reader:
                return await reader.read(first, last, tag)
            content = await api.content(job_id, file.directory, file.path, first, last, tag)
            if len(content.data) < min(last + 1, content.size) - first and tag:
                raise Unanswered(f"{file.name}: an answer ended too early")
            return content

        async with gate:
            return await patiently(ask)

    size = DIRECT_CHUNK if reader else CHUNK
    first_part = await fetch(start, start + size - 1 if file.size > start else start - 1, "")
    yield first_part
    tag, step = first_part.tag, len(first_part.data)
    ahead = iter(range(start + step, first_part.size, step) if step else ())
    under_way: list[asyncio.Task[FileChunk]] = []
    try:
        while True:
            while len(under_way) < _AHEAD and (first := next(ahead, None)) is not None:
                under_way.append(asyncio.create_task(fetch(first, first + step - 1, tag)))
            if not under_way:
                return
            yield await under_way.pop(0)
    finally:
        for task in under_way:
            task.cancel()


async def patiently(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer, asked for again while the service does not answer, for a minute. Raises Failure."""
    began, wait = time.monotonic(), 0.5
    while True:
        try:
            return await ask()
        except Unanswered:
            if time.monotonic() - began + wait > _PATIENCE:
                raise
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)
