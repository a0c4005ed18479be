"""`slipway download`: saves the files that a job wrote on this machine."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from slipway.client.files.download import Downloaded, among_others, find_and_save, folder_of, no_file
from slipway.client.files.room import Room, TooLarge
from slipway.client.files.saving import say_reasons
from slipway.client.files.walk import Tree
from slipway.client.jobs.words import ENDED
from slipway.client.service import Service
from slipway.commands.asking import asking_about, show
from slipway.commands.download.fetched import Fetched
from slipway.failure import Failure
from slipway.terminal.bar import progress
from slipway.terminal.screen import confirmed
from slipway.terminal.screen import say as say_beside

#: The output directory that every job has, with its logs.
LOGS = "stdouterr"


def download(
    job: str,
    patterns: Sequence[str],
    to: Path | None,
    url: str,
    key: str,
    *,
    attempt: int = 0,
    any_size: bool = False,
    as_json: bool = False,
) -> int:
    """Save the files of a job that fit, by default all of them; 1 if one of them could not be saved."""

    async def ask(api: Service, job_id: str) -> int:
        state = (await api.job(job_id))["state"]
        directories = await api.outputs(job_id)
        if state not in ENDED and not attempt:
            say_beside(f"{job_id} is {state}: files that it writes from now on are not included")
        folder = Path(folder_of(job_id, attempt)) if to is None else to
        fetched = await fetch(api, job_id, directories, patterns, folder, any_size=any_size)
        show(fetched.answer, lambda _: [fetched.text], as_json=as_json)
        return fetched.code

    try:
        return asking_about(job, ask, url, key, attempt)
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
    return Fetched(number, folder, (*tree.unread, *number.failed, *lacking), tree.skipped)


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
