"""Upload a folder to the drop container: several files at once, those that begin a job last."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from io import SEEK_END, BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from shared.adapters.storage.wire.listed_blob import is_folder
from shared.settings import Settings
from slipway.client.drops.folder import LAST, target_of, to_upload
from slipway.client.files.output import PARALLEL
from slipway.client.storage.account import storage_account
from slipway.client.storage.replace_blob import replace_blob, sending, version_of
from slipway.terminal.bar import progress

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient, ContainerClient

#: Bytes of a file that is read whole, and so never while it changes; a larger one is read as it is sent.
_WHOLE = 16 << 20


@dataclass
class Uploaded:
    """The blobs of a folder: SHA-256 of each by its name in the container."""

    container: str
    digests: dict[str, str]

    @property
    def names(self) -> list[str]:
        """The names of the blobs, each after its container."""
        return [f"{self.container}/{name}" for name in self.digests]


def files_for(folder: Path, target: str) -> dict[str, Path]:
    """The files of a folder to upload, by their names below `target`. Raises Failure."""
    return {f"{target}/{file.relative_to(folder).as_posix()}": file for file in to_upload(folder)}


async def upload(settings: Settings, folder: Path, to: str = "") -> Uploaded:
    """Upload a folder's files under `to` (default: its name), replacing blobs. Raises Failure."""
    target = target_of(folder, to)
    return await upload_files(settings, target, files_for(folder, target))


async def upload_files(settings: Settings, target: str, files: Mapping[str, Path]) -> Uploaded:
    """Upload the files of a folder in place of the blobs of these names below `target`. Raises Failure."""
    size = sum(file.stat().st_size for file in files.values())
    uploaded = Uploaded(settings.text("SLIPWAY_DROP_CONTAINER"), dict.fromkeys(files, ""))
    async with storage_account(settings) as account:
        container = account.blobs.get_container_client(uploaded.container)
        versions = await _versions(container, f"{target}/")
        with progress(size) as bar:

            async def send(name: str) -> None:
                blob = container.get_blob_client(name)
                bar.advance(await _send(blob, files[name], name, versions.get(name, ""), uploaded))

            await _at_once([name for name in files if files[name].name not in LAST], send)
            for name in (name for name in files if files[name].name in LAST):
                await send(name)
    return uploaded


async def _send(blob: "BlobClient", file: Path, name: str, version: str, uploaded: Uploaded) -> int:
    """Send a file in place of this version; returns its size."""
    status = await asyncio.to_thread(file.stat)
    with await asyncio.to_thread(_opened, file) as data:
        uploaded.digests[name] = await asyncio.to_thread(_sha256, data)
        size, md5 = data.seek(0, SEEK_END), await asyncio.to_thread(_md5, data)
        with sending(file, None if isinstance(data, BytesIO) else status):
            await replace_blob(blob, data, size, md5, version)
    return size


def _opened(file: Path) -> BytesIO | BufferedReader:
    return file.open("rb") if file.stat().st_size > _WHOLE else BytesIO(file.read_bytes())


async def _at_once(names: Sequence[str], send: Callable[[str], Awaitable[None]]) -> None:
    """Send several at a time. The first error ends all."""
    waiting = iter(names)

    async def work() -> None:
        for name in waiting:
            await send(name)

    tasks = [asyncio.create_task(work()) for _ in range(min(PARALLEL, len(names)))]
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


def _sha256(data: BytesIO | BufferedReader) -> str:
    data.seek(0)
    return hashlib.file_digest(data, "sha256").hexdigest()


def _md5(data: BytesIO | BufferedReader) -> bytes:
    data.seek(0)
    return hashlib.file_digest(data, lambda: hashlib.md5(usedforsecurity=False)).digest()
