"""Upload a folder to the drop container: several files at once, those that begin a job last."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import SEEK_END, BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.adapters.storage.wire.listed_blob import is_folder
from shared.settings import Settings
from slipway.client.drops.folder import LAST, target_of, to_upload
from slipway.client.files.output import PARALLEL
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.storage.account import storage_account
from slipway.client.storage.replace_blob import replace_blob, sending, version_of
from slipway.terminal.bar import progress
from slipway.terminal.screen import say

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient, ContainerClient

#: Bytes of a file that is read whole, and so never while it changes; a larger one is read as it is sent.
_WHOLE = 16 << 20
#: Files, and bytes, from which on they are probably data.
_MANY, _LARGE = 300, 300 << 20


@dataclass
class Uploaded:
    """The blobs of a folder: SHA-256 of each by its name in the container."""

    container: str
    digests: dict[str, str] = field(default_factory=dict)
    #: the versions of all that were sent
    etags: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the blobs, each after its container."""
        return [f"{self.container}/{name}" for name in self.digests]


async def upload(settings: Settings, folder: Path, to: str = "", *, remarks: bool = True) -> Uploaded:
    """Upload the folder's files under `to` (default: its name), replacing blobs. Raises Failure.

    `remarks` are those of `to_upload`.
    """
    files, target = to_upload(folder, remarks=remarks), target_of(folder, to)
    size = sum(file.stat().st_size for file in files)
    _warn_of_data(folder, len(files), size)
    names = {file: f"{target}/{file.relative_to(folder).as_posix()}" for file in files}
    uploaded = Uploaded(settings.text("SLIPWAY_DROP_CONTAINER"), dict.fromkeys(names.values(), ""))
    async with storage_account(settings) as account:
        container = account.blobs.get_container_client(uploaded.container)
        versions = await _versions(container, f"{target}/")
        with progress(size) as bar:

            async def send(file: Path) -> None:
                blob, name = container.get_blob_client(names[file]), names[file]
                bar.advance(await _send(blob, file, name, versions.get(name, ""), uploaded))

            await _at_once([file for file in files if file.name not in LAST], send)
            for file in (file for file in files if file.name in LAST):
                await send(file)
    return uploaded


def _warn_of_data(folder: Path, files: int, size: int) -> None:
    if files > _MANY or size > _LARGE:
        say(
            f"{folder} has {files:,} files of {size / 1e6:,.0f} MB together, and the drop container is for "
            f"job files and scripts: name the data in {IGNORE_FILE}, and put it where jobs mount it "
            "(slipway data put)"
        )


async def _send(blob: "BlobClient", file: Path, name: str, version: str, uploaded: Uploaded) -> int:
    """Send a file in place of this version; returns its size."""
    status = await asyncio.to_thread(file.stat)
    with await asyncio.to_thread(_opened, file) as data:
        uploaded.digests[name] = await asyncio.to_thread(_sha256, data)
        size, md5 = data.seek(0, SEEK_END), await asyncio.to_thread(_md5, data)
        with sending(file, None if isinstance(data, BytesIO) else status):
            uploaded.etags[name] = await replace_blob(blob, data, size, md5, version)
    return size


def _opened(file: Path) -> BytesIO | BufferedReader:
    return file.open("rb") if file.stat().st_size > _WHOLE else BytesIO(file.read_bytes())


async def _at_once(files: Sequence[Path], send: Callable[[Path], Awaitable[None]]) -> None:
    """Send several at a time. The first error ends all."""
    waiting = iter(files)

    async def work() -> None:
        for file in waiting:
            await send(file)

    tasks = [asyncio.create_task(work()) for _ in range(min(PARALLEL, len(files)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _versions(container: "ContainerClient", prefix: str) -> dict[str, str]:
    """The version of each blob that is a file."""
    return {
        blob.name: version_of(blob.etag)
        async for blob in container.list_blobs(name_starts_with=prefix, include=["metadata"])
        if not is_folder(blob.metadata)
    }


def runs_the_same(job: Mapping[str, Any], folder: Path, target: str) -> bool:
    """Whether the files with which a job was accepted equal the folder's files of the same names."""
    for one in job.get("drop", {}).get("files", ()):
        file = folder / str(one["name"]).removeprefix(f"{target}/")
        if str(one["name"]).startswith(f"{target}/") and file.is_file():
            with file.open("rb") as data:
                if _sha256(data) != one["sha256"]:
                    return False
    return True


def _sha256(data: BytesIO | BufferedReader) -> str:
    data.seek(0)
    return hashlib.file_digest(data, "sha256").hexdigest()


def _md5(data: BytesIO | BufferedReader) -> bytes:
    data.seek(0)
    return hashlib.file_digest(data, lambda: hashlib.md5(usedforsecurity=False)).digest()
