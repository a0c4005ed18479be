"""`slipway download`: saves the files that a job wrote on this machine."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

from slipway.client.files.arriving import Arriving
from slipway.client.files.direct import Direct
from slipway.client.files.output import Bounds, chunks
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room, TooLarge
from slipway.client.files.save import Destination
from slipway.client.files.walk import Tree, walk
from slipway.client.refusal import Changed
from slipway.client.service import Service
from slipway.client.watch import ENDED
from slipway.commands.jobs import asking_about, show
from slipway.commands.output.bar import SILENT, Bar, progress
from slipway.commands.output.fetched import Fetched
from slipway.commands.output.finding import Finding, look_for
from slipway.commands.output.saving import Outcome, save_each, say_reasons
from slipway.failure import Failure
from slipway.screen import confirmed
from slipway.screen import say as say_beside
from slipway.terminal import printable

#: The output directory that every job has, with its logs.
LOGS = "stdouterr"
#: How often a file is read that changes meanwhile, as the log of a job that runs.
_READS = 3


class Downloaded(NamedTuple):
    """The files that were found, and the outcome."""

    finding: Finding[Tree]
    outcome: Outcome


def download(
    job: str,
    patterns: Sequence[str],
    to: Path | None,
    url: str,
    key: str,
    *,
    any_size: bool = False,
    as_json: bool = False,
) -> int:
    """Save the files of a job that fit, by default all of them; 1 if one of them could not be saved."""

    async def ask(api: Service, job_id: str) -> int:
        state = (await api.job(job_id))["state"]
        directories = await api.outputs(job_id)
        if state not in ENDED:
            say_beside(f"{job_id} is {state}: files that it writes from now on are not included")
        fetched = await fetch(api, job_id, directories, patterns, to, any_size=any_size)
        show(fetched.answer, lambda _: [fetched.text], as_json=as_json)
        return fetched.code

    try:
        return asking_about(job, ask, url, key)
    except KeyboardInterrupt:
        say_beside("what arrived is kept; the same command continues from there")
        raise


async def fetch(
    api: Service,
    job_id: str,
    directories: Sequence[str],
    patterns: Sequence[str],
    to: Path | None,
    *,
    any_size: bool = False,
) -> Fetched:
    """Save the matching files of these output directories, and report those that could not be saved.

    Raises Failure for very large ones, unless `any_size`, or a person at the terminal, says so.
    """
    folder = to or Path(job_id)
    outputs = [one for one in directories if one != LOGS]

    def is_whole(tree: Tree) -> bool:
        if patterns:
            return not _unmet(patterns, tree)
        return not outputs or bool(tree.unread) or any(file.directory != LOGS for file in tree.files)

    async def save_them(room: Room | None) -> Downloaded:
        with progress() as bar:
            return await find_and_save(api, job_id, directories, patterns, is_whole, folder, bar, room)

    try:
        finding, number = await save_them(None if any_size else Room(folder))
    except TooLarge as large:
        if not confirmed(f"{large}; download them all the same?"):
            names = "name some of them (slipway files --tree lists them)"
            raise Failure(f"{large}; {names}, or add --any-size: slipway download {job_id}") from None
        finding, number = await save_them(None)
    tree, unmet = finding.what, _unmet(patterns, finding.what)
    if unmet and not tree.files:
        say_reasons((*tree.unread, *tree.skipped))
        raise Failure(no_file(unmet, finding.proviso, job_id))
    say_reasons((*tree.unread, *tree.skipped))
    say_reasons(number.failed)
    if number.other:
        say_beside(among_others(folder, number.other))
    if unmet:
        say_beside(no_file(unmet, finding.proviso, job_id))
    if not patterns and not is_whole(tree):
        say_beside(_left_nothing(outputs, finding.proviso))
    lacking = [(pattern, "no file fits it") for pattern in unmet]
    return Fetched(number, folder, (*tree.unread, *number.failed, *lacking))


def no_file(patterns: Sequence[str], proviso: str, job_id: str) -> str:
    """The message about patterns that match nothing."""
    named = " ".join(map(printable, patterns))
    return f"no file fits {named}{proviso}; list them: slipway files {job_id} --tree"


def among_others(folder: Path, other: str) -> str:
    """The message about a directory with files of another job."""
    return f"{folder} has files of {printable(other)} as well; what was not replaced is theirs"


def _unmet(patterns: Sequence[str], tree: Tree) -> list[str]:
    """The patterns that no file matches."""
    return [one for one in patterns if not any(file.fits([one]) for file in tree.files)]


def _left_nothing(outputs: Sequence[str], proviso: str) -> str:
    places = ", ".join(f"$AZ_BATCHAI_OUTPUT_{one}" for one in outputs)
    if proviso:
        return f"there is nothing in {places}{proviso}"
    return (
        f"the job left nothing in {places}: a file that is to be kept is written there, "
        "not into the working directory"
    )


def check_directory(to: Path | None) -> None:
    """Raise Failure if nothing could be saved there, before the job runs whose files go there."""
    directory = (to or Path()).absolute()
    existing = next(one for one in (directory, *directory.parents) if one.exists() or one.is_symlink())
    if not existing.is_dir():
        raise Failure(f"--to {to}: {existing} is not a directory; choose another with --to")
    try:  # permissions do not show this for every file system
        Path(tempfile.mkdtemp(prefix=".slipway-", dir=existing)).rmdir()
    except OSError as error:
        raise Failure(
            f"no file can be saved in {existing}: {error.strerror}; choose another directory with --to"
        ) from error


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
        earlier = frozenset(arriving.all)

        def receive(files: Sequence[Remote]) -> None:
            new = [file for file in files if file not in earlier]
            if room is not None:
                room.expect(new)
            bar.expect(sum(file.size for file in new))
            arriving.add(new)

        return await walk(api, job_id, directories, patterns, receive)

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
        return Downloaded(*await asyncio.gather(looking, saving))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
