"""Downloads the files that a job wrote, while more of them are found."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

from slipway.client.calls.refusal import Changed
from slipway.client.files.arriving import Arriving
from slipway.client.files.direct import Direct
from slipway.client.files.finding import Finding, look_for
from slipway.client.files.output import Bounds, chunks
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room
from slipway.client.files.save import Destination
from slipway.client.files.saving import Outcome, save_each
from slipway.client.files.walk import Tree, walk
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.bar import SILENT, Bar
from slipway.terminal.characters import printable

#: How often a file is read that changes meanwhile, as the log of a job that runs.
_READS = 3


class Downloaded(NamedTuple):
    """The files that were found, and the outcome."""

    finding: Finding[Tree]
    outcome: Outcome


def no_file(patterns: Sequence[str], proviso: str, job_id: str) -> str:
    """The message about patterns that match nothing."""
    named = " ".join(map(printable, patterns))
    return f"no file fits {named}{proviso}; list them: slipway files {job_id} --tree"


def among_others(folder: Path, other: str) -> str:
    """The message about a directory with files of another job."""
    return f"{folder} has files of {printable(other)} as well; what was not replaced is theirs"


def folder_of(job_id: str, attempt: int) -> str:
    """The directory for the files of a job, or of one attempt of it, if no other is named."""
    return f"{job_id}-attempt-{attempt}" if attempt else job_id


async def find_and_save(
    api: Service, job_id: str, directories: Sequence[str], patterns: Sequence[str],
    is_whole: Callable[[Tree], bool], to: Path, bar: Bar = SILENT,
    room: Room | None = None,
) -> Downloaded:  # fmt: skip
    """Find the matching files of these output directories, and download them while more are found.

    If no file matches the patterns, no directory is created. Raises Failure if either step cannot go on;
    files that arrived are kept.
    """
    arriving = Arriving[Remote]()

    async def find() -> Tree:
        return await walk(api, job_id, directories, patterns, _receiver(arriving, room, bar))

    async def find_twice() -> Finding[Tree]:
        is_all = False
        try:
            finding = await look_for(api, job_id, find, is_whole)
            is_all = not (patterns or finding.what.unread)
            return finding
        finally:
            arriving.close(is_whole=is_all)

    tasks: list[asyncio.Task[Any]] = [looking := asyncio.create_task(find_twice())]
    try:
        if not await arriving.begun():
            finding = await looking
            if patterns:
                return Downloaded(finding, Outcome())
        tasks.append(saving := asyncio.create_task(save(api, job_id, arriving, to, bar.advance)))
        finding, outcome = await asyncio.gather(looking, saving)
        _make_folders(finding.what.empty, to, job_id, outcome)
        return Downloaded(finding, outcome)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _receiver(arriving: Arriving[Remote], room: Room | None, bar: Bar) -> Callable[[Sequence[Remote]], None]:
    """A function that passes on files which were not found before."""
    earlier = frozenset(arriving.all)

    def receive(files: Sequence[Remote]) -> None:
        new = [file for file in files if file not in earlier]
        if room is not None:
            room.expect(new)
        bar.expect(sum(file.size for file in new))
        arriving.add(new)

    return receive


def _make_folders(names: Sequence[str], to: Path, job_id: str, outcome: Outcome) -> None:
    """Make the folders in which nothing is."""
    if not names:
        return
    destination = Destination(to, job_id)
    try:
        for name in names:
            try:
                destination.make_folder(name)
            except Failure as failure:
                outcome.failed.append((name, str(failure)))
            except OSError as error:
                outcome.failed.append((name, error.strerror or "it cannot be made"))
    finally:
        destination.close()


async def save(
    api: Service, job_id: str, files: Arriving[Remote], to: Path, advance: Callable[[int], None]
) -> Outcome:
    """Download these files below a directory, several at once. Raises Failure if that is not possible."""
    outcome, bounds, destination = Outcome(), Bounds(), Destination(to, job_id)
    outcome.other = destination.other

    async def has(file: Remote) -> bool:
        return destination.has(file)

    try:
        async with Direct(api, job_id) as direct:

            async def one(file: Remote) -> int:
                return await _save(api, job_id, file, destination, bounds, direct, advance)

            await save_each(files, has, one, advance, outcome)
        if not outcome.failed:
            destination.finish(files.all, is_whole=files.is_whole)
    finally:
        destination.close()
    return outcome


async def _save(
    api: Service, job_id: str, file: Remote, destination: Destination, bounds: Bounds,
    direct: Direct, advance: Callable[[int], None],
) -> int:  # fmt: skip
    start, reads = destination.begun(file), 1
    while True:
        advance(count := start)
        try:
            async with (
                aclosing(chunks(api, job_id, file, bounds, start, direct)) as content,
                aclosing(destination.save(file, start, content)) as written,
            ):
                async for size in written:
                    count += size
                    advance(size)
                return count
        except Changed:
            if reads == _READS:
                raise Failure("it changes while it is read; download it when the job has ended") from None
            advance(-count)
            start, reads = 0, reads + 1
