"""`slipway drop`: upload a folder to the drop container, its scripts first and its job.json last."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.wire.connection import Account, Connection
from shared.intake.folder import ignored
from shared.jobspec import Source, has_errors, report
from shared.settings import Settings
from slipway.client.save import MARK
from slipway.client.trouble import reaching
from slipway.commands.document.diagnose import diagnosed
from slipway.commands.waiting import waiting
from slipway.failure import Failure
from slipway.settings import load

#: The file that completes a drop is uploaded last, so that an incomplete one is not accepted.
_LAST = ("slipway.json", "job.json")


def run(folder: Path, to: str, settings_file: Path | None, *, force: bool = False) -> int:
    """Upload, and show each file; with `force` also what cannot run. Raises Failure."""
    settings, _ = load(settings_file, os.environ)
    if not force:
        check(folder)
    asyncio.run(_upload_and_show(settings, folder, to))
    return 0


def check(folder: Path) -> None:
    """Raise Failure, with every problem, for a job.json that cannot run: then nothing is uploaded."""
    file = folder / "job.json"
    if not file.is_file():
        return  # a script for a template, or a folder that gets its job.json later
    problems = diagnosed(Source(file.read_bytes()), file)
    if has_errors(problems):
        shown = report.text(report.problems_as_json(problems), str(file)).rstrip()
        raise Failure(f"nothing was uploaded, because the job cannot run\n{shown}")


async def upload(settings: Settings, folder: Path, to: str = "") -> list[str]:
    """Upload the folder's files under `to` (default: its name), replacing blobs; returns their names.

    Raises Failure.
    """
    files, target = to_upload(folder), target_of(folder, to)
    container = settings.text("SLIPWAY_DROP_CONTAINER")
    names = []
    async with _account(settings) as account:
        for file in files:
            name = f"{target}/{file.relative_to(folder).as_posix()}"
            blob = account.blobs.get_blob_client(container, name)
            await blob.upload_blob(file.read_bytes(), overwrite=True)
            names.append(f"{container}/{name}")
    return names


def target_of(folder: Path, to: str) -> str:
    """The folder of the container that the files go to. Raises Failure for a folder that Slipway ignores."""
    target = to.strip("/") if to else folder.resolve().name  # of "." too
    if ignored(target) or "" in target.split("/"):
        raise Failure(
            f"{to or target!r} is not a folder to drop into: a level is empty, begins with a dot or cannot "
            "be printed; name another one, e.g. --to team/digits"
        )
    return target


def to_upload(folder: Path) -> Sequence[Path]:
    """The files of a folder in the order in which to upload them. Raises Failure when there is none."""
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder; name one with a script and a job.json")
    results = {mark.parent for mark in folder.rglob(MARK)} - {folder}  # of earlier jobs, downloaded to here
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_hidden(path, folder) and results.isdisjoint(path.parents)
    ]
    if not files:
        raise Failure(f"{folder} holds no files; put a script and a job.json there")
    return sorted(files, key=lambda path: (_rank(path), path))


async def _upload_and_show(settings: Settings, folder: Path, to: str) -> None:
    names = await upload(settings, folder, to)
    for name in names:
        print(f"uploaded {name}")
    for wait in await waits_of(settings, names):
        sys.stderr.write(f"warning: nothing runs yet: {wait}\n")
    answers = settings.text("SLIPWAY_ANSWERS_CONTAINER")
    print(f"the answer will be below {answers}/{target_of(folder, to)}/; `slipway jobs` shows the job")


async def waits_of(settings: Settings, names: Sequence[str]) -> list[str]:
    """What keeps a folder from running that was uploaded as these blobs; empty when nothing does."""
    drops, answers = settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_ANSWERS_CONTAINER")
    async with _account(settings) as account:
        blobs = BlobDrops(account, drops, answers, ())
        return await waiting(settings, blobs, [name.partition("/")[2] for name in names])


@asynccontextmanager
async def _account(settings: Settings) -> AsyncIterator[Account]:
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        account = Account(Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
        try:
            yield account
        finally:
            await account.close()


def _rank(path: Path) -> int:
    return _LAST.index(path.name) + 1 if path.name in _LAST else 0


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
