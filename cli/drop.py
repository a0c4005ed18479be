"""`slipway drop`: upload a folder to the drop container, its scripts first and its job.json last."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from cli.failure import Failure
from cli.settings import load
from cli.trouble import reaching
from shared.settings import Settings
from shared.storage.connection import Account, Connection

#: What completes a drop goes last, so that nobody looks at half of it.
_LAST = ("slipway.json", "job.json")


def run(folder: Path, to: str, settings_file: Path | None) -> int:
    """Upload, and show each file. Raises Failure."""
    settings, _ = load(settings_file, os.environ)
    asyncio.run(_upload_and_show(settings, folder, to))
    return 0


async def upload(settings: Settings, folder: Path, to: str = "") -> list[str]:
    """Upload the folder's files under `to` (default: its name), whatever was there; the blobs' names.

    Raises Failure.
    """
    files = to_upload(folder)
    target = to.strip("/") or _name(folder)
    container = settings.text("SLIPWAY_DROP_CONTAINER")
    names = []
    with reaching("the storage account", "SLIPWAY_STORAGE"):
        account = Account(Connection(*settings.connection(), settings.text("AZURE_CLIENT_ID")))
        try:
            for file in files:
                name = f"{target}/{file.relative_to(folder).as_posix()}"
                blob = account.blobs.get_blob_client(container, name)
                await blob.upload_blob(file.read_bytes(), overwrite=True)
                names.append(f"{container}/{name}")
        finally:
            await account.close()
    return names


def to_upload(folder: Path) -> Sequence[Path]:
    """The files of a folder in the order in which to upload them. Raises Failure when there is none."""
    if not folder.is_dir():
        raise Failure(f"{folder} is no folder; name one with a script and a job.json")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _hidden(path, folder)]
    if not files:
        raise Failure(f"{folder} holds no files; put a script and a job.json there")
    return sorted(files, key=lambda path: (_rank(path), path))


async def _upload_and_show(settings: Settings, folder: Path, to: str) -> None:
    for name in await upload(settings, folder, to):
        print(f"uploaded {name}")
    print("the answer will be in the container " + settings.text("SLIPWAY_ANSWERS_CONTAINER"))


def _name(folder: Path) -> str:
    return folder.resolve().name  # of "." too


def _rank(path: Path) -> int:
    return _LAST.index(path.name) + 1 if path.name in _LAST else 0


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
