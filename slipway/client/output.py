"""What a job wrote, read through the API: every file below its output directories, and their bytes."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from slipway.client.service import FilePart, Service, Unanswered
from slipway.failure import Failure

Answer = TypeVar("Answer")
#: Requests at once.
PARALLEL = 8
#: Bytes that one answer holds at most, and so the parts that a file is read in.
PART = 8 << 20
#: Parts of one file that are asked for before they can be written.
_AHEAD = 3
#: Folders in one walk: links of a job may lead in circles.
_MOST_FOLDERS, _DEEPEST = 20_000, 64
#: A folder that lists the same as one above it is that folder; with one entry it may be chance, so often.
_ALONE = 8
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


@dataclass(frozen=True)
class Tree:
    """The files of a job; links that were not followed and folders that could not be listed, with reasons."""

    files: tuple[Remote, ...]
    skipped: tuple[tuple[str, str], ...]
    unread: tuple[tuple[str, str], ...] = ()


async def walk(api: Service, job_id: str, directories: Sequence[str]) -> Tree:
    """Every file below these output directories. Raises Failure."""
    gate = asyncio.Semaphore(PARALLEL)
    files: list[Remote] = []
    skipped: list[tuple[str, str]] = []
    unread: list[tuple[str, str]] = []
    number = 0

    async def folder(directory: str, path: str, above: tuple[tuple[Any, ...], ...]) -> None:
        nonlocal number
        number += 1
        if number > _MOST_FOLDERS:
            raise Failure(
                f"the job wrote more than {_MOST_FOLDERS:,} folders, or links that lead in circles; "
                "read single files: slipway files JOB --directory … --path …, slipway cat JOB FILE"
            )
        if len(above) > _DEEPEST:
            unread.append((f"{directory}/{path}", f"it lies more than {_DEEPEST} folders deep"))
            return
        try:
            async with gate:
                entries = await patiently(lambda: api.files(job_id, directory, path or "."))
        except Unanswered:
            raise
        except Failure as error:
            unread.append((f"{directory}/{path}", str(error)))
            return
        this = tuple(sorted((e["name"], e["bytes"] or 0, e["modified"] or "") for e in entries))
        if above.count(this) >= (1 if len(this) > 1 else _ALONE):
            skipped.append((f"{directory}/{path}", "it is a link to a folder above it"))
            return
        below = []
        for entry in entries:
            name = f"{path}/{entry['name']}" if path else entry["name"]
            if entry.get("link"):
                skipped.append((f"{directory}/{name}", "it is a link that leads out of the job's folder"))
            elif entry["bytes"] is None:
                below.append(folder(directory, name, (*above, this)))
            else:
                files.append(Remote(directory, name, entry["bytes"], _moment(entry["modified"])))
        await asyncio.gather(*below)

    await asyncio.gather(*(folder(directory, "", ()) for directory in directories))
    return Tree(
        tuple(sorted(files, key=lambda file: file.name)), tuple(sorted(skipped)), tuple(sorted(unread))
    )


async def parts(
    api: Service, job_id: str, file: Remote, gate: asyncio.Semaphore, start: int = 0, tag: str = ""
) -> AsyncGenerator[FilePart]:
    """The parts of a file from `start` on, in order, some of them asked for at once.

    Raises Changed when the file changes in between, and Failure.
    """

    async def part(first: int, last: int, tag: str) -> FilePart:
        async def ask() -> FilePart:
            content = await api.content(job_id, file.directory, file.path, first, last, tag)
            if len(content.data) < min(last + 1, content.size) - first and tag:
                raise Unanswered(f"{file.name}: an answer ended too early")
            return content

        async with gate:
            return await patiently(ask)

    first_part = await part(start, start + PART - 1 if file.size > start else start - 1, tag)
    yield first_part
    tag, step = tag or first_part.tag, len(first_part.data)
    ahead = iter(range(start + step, first_part.size, step) if step else ())
    under_way: list[asyncio.Task[FilePart]] = []
    try:
        while True:
            while len(under_way) < _AHEAD and (first := next(ahead, None)) is not None:
                under_way.append(asyncio.create_task(part(first, first + step - 1, tag)))
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


def _moment(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None
