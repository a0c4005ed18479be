"""What a job wrote, read through the API: every file below its output directories, and their bytes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from slipway.client.service import FilePart, Service, Unanswered

Answer = TypeVar("Answer")
#: Requests at once.
PARALLEL = 8
#: Bytes that one answer holds at most, and so the parts that a file is read in.
PART = 8 << 20
#: Parts of one file that are asked for before they can be written.
_AHEAD = 3
#: Seconds without any answer after which a read is given up, and the longest wait between two tries.
_PATIENCE, _LONGEST_WAIT = 60.0, 8.0


@dataclass(frozen=True)
class Remote:
    """A file that a job wrote. `modified` is Unix time, None where the cluster does not say."""

    directory: str
    path: str
    size: int
    modified: float | None

    @property
    def name(self) -> str:
        """How people name it, and where it comes to lie below the destination."""
        return f"{self.directory}/{self.path}"

    def fits(self, patterns: Sequence[str]) -> bool:
        """Whether one of the patterns names it, or a folder above it; without patterns every file fits."""
        return not patterns or any(
            fnmatchcase(name, pattern) or name.startswith(f"{pattern.rstrip('/')}/")
            for pattern in patterns
            for name in (self.name, self.path)
        )


async def parts(
    api: Service, job_id: str, file: Remote, gate: asyncio.Semaphore, start: int = 0, tag: str = ""
) -> AsyncGenerator[FilePart]:
    """The parts of a file from `start` on, in order, some of them asked for at once.

    Raises Changed when the file changes in between, and Failure.
    """

    async def fetch(first: int, last: int, tag: str) -> FilePart:
        async def ask() -> FilePart:
            content = await api.content(job_id, file.directory, file.path, first, last, tag)
            if len(content.data) < min(last + 1, content.size) - first and tag:
                raise Unanswered(f"{file.name}: an answer ended too early")
            return content

        async with gate:
            return await patiently(ask)

    first_part = await fetch(start, start + PART - 1 if file.size > start else start - 1, tag)
    yield first_part
    tag, step = tag or first_part.tag, len(first_part.data)
    ahead = iter(range(start + step, first_part.size, step) if step else ())
    under_way: list[asyncio.Task[FilePart]] = []
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
