"""A blob container that jobs mount: lists, writes and reads its files directly in storage, in blocks."""

import asyncio
import base64
import hashlib
import io
import stat
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from slipway.client.calls.answers import FileChunk
from slipway.client.calls.refusal import Changed
from slipway.client.files.output import PARALLEL
from slipway.client.files.remote import Remote
from slipway.failure import Failure

if TYPE_CHECKING:
    from azure.storage.blob import BlobProperties
    from azure.storage.blob.aio import BlobClient, ContainerClient

#: Bytes of a block, and the most blocks of a blob.
_BLOCK, _MOST_BLOCKS = 8 << 20, 50_000
#: The metadata of a blob whose file is a program.
_PROGRAM = {"executable": "true"}
#: How many blocks of one file are read ahead of saving.
_AHEAD = 3


@dataclass(frozen=True)
class DataFile(Remote):
    """A file of the container; `directory` is empty, and `path` its whole name."""

    md5: bytes = b""

    @property
    def name(self) -> str:
        """Its name in the container, and its path below a destination."""
        return self.path


@dataclass(frozen=True)
class Block:
    """A block of a local file.

    Its id is derived from its content, so a block of an earlier run is recognised.
    """

    first: int
    size: int
    md5: bytes

    @property
    def id(self) -> str:
        """The id for storage, which requires ids of equal length."""
        return f"{self.first:016x}-{self.md5.hex()}"


@dataclass(frozen=True)
class Fingerprint:
    """The digests of a local file."""

    size: int
    md5: bytes
    blocks: Sequence[Block]
    executable: bool = False


def fingerprint(path: Path) -> Fingerprint:
    """Read a file once. Raises OSError."""
    whole, blocks, first = hashlib.md5(usedforsecurity=False), list[Block](), 0
    status = path.stat()
    step = max(_BLOCK, -(-status.st_size // _MOST_BLOCKS))
    with path.open("rb") as stream:
        while data := stream.read(step):
            whole.update(data)
            blocks.append(Block(first, len(data), hashlib.md5(data, usedforsecurity=False).digest()))
            first += len(data)
    return Fingerprint(first, whole.digest(), blocks, executable=bool(status.st_mode & stat.S_IXUSR))


class DataLake:
    """One container. Its methods raise what the SDK raises, and Failure."""

    def __init__(self, container: "ContainerClient") -> None:
        self._container = container
        self._gate = asyncio.Semaphore(PARALLEL)

    async def exists(self) -> bool:
        """Whether the container is there."""
        return await self._container.exists()

    async def files(self, prefix: str = "") -> list[DataFile]:
        """The files whose names begin with the prefix, without the folders that some accounts list too."""
        return [
            _file(one)
            async for one in self._container.list_blobs(name_starts_with=prefix, include=["metadata"])
            if (one.metadata or {}).get("hdi_isfolder") != "true"
        ]

    async def write(
        self, path: Path, name: str, content: Fingerprint, advance: Callable[[int], None]
    ) -> None:
        """Write a file, several blocks at once; blocks that an interrupted run left are not sent again."""
        from azure.storage.blob import BlobBlock, ContentSettings

        blob = self._container.get_blob_client(name)
        how: dict[str, Any] = {"content_settings": ContentSettings(content_md5=bytearray(content.md5))}
        how["metadata"] = _PROGRAM if content.executable else None
        if len(content.blocks) < 2:
            async with self._gate:
                data = await asyncio.to_thread(_read, path, content.blocks[0]) if content.blocks else b""
                await blob.upload_blob(io.BytesIO(data), length=len(data), overwrite=True, **how)
            advance(len(data))
            return
        staged = await _staged(blob)

        async def stage(block: Block) -> None:
            if block.id not in staged:
                async with self._gate:
                    data = await asyncio.to_thread(_read, path, block)
                    await blob.stage_block(
                        block.id, io.BytesIO(data), length=block.size, validate_content=True
                    )
            advance(block.size)

        tasks = [asyncio.create_task(stage(block)) for block in content.blocks]
        try:
            await asyncio.gather(*tasks)
        finally:
            await _cancel(tasks)
        await blob.commit_block_list([BlobBlock(block_id=block.id) for block in content.blocks], **how)

    async def remove(self, file: DataFile) -> str:
        """Remove a file with its snapshots, unless it has changed since then; why it was not, or ""."""
        from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError

        listed = datetime.fromtimestamp(file.modified or 0, UTC)
        try:
            blob = self._container.get_blob_client(file.name)
            await blob.delete_blob(delete_snapshots="include", if_unmodified_since=listed)
        except (ResourceModifiedError, ResourceNotFoundError):
            return "it has changed, or is gone; list it again"
        except HttpResponseError as error:
            code: Any = getattr(error, "error_code", None)
            word = getattr(code, "value", code) or ""
            return f"the storage account answered {error.status_code} {word}".rstrip()
        return ""

    async def read(self, file: DataFile, start: int) -> AsyncGenerator[FileChunk]:
        """The chunks of a file from a byte on, in order. Raises Changed if it is written meanwhile."""
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError

        blob = self._container.get_blob_client(file.name)
        etag = (await blob.get_blob_properties()).etag

        async def fetch(first: int) -> FileChunk:
            same: dict[str, Any] = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
            try:
                async with self._gate:
                    answer = await blob.download_blob(first, min(_BLOCK, file.size - first), **same)
                    return FileChunk(await answer.readall(), file.size, etag)
            except (ResourceModifiedError, ResourceNotFoundError) as error:
                raise Changed(f"{file.name} has changed") from error

        async for chunk in _in_order(fetch, range(start, file.size, _BLOCK)):
            yield chunk
        if not file.size:
            yield FileChunk(b"", 0, etag)


def _file(blob: "BlobProperties") -> DataFile:
    executable = (blob.metadata or {}).get("executable") == _PROGRAM["executable"]
    return DataFile("", blob.name, blob.size, blob.last_modified.timestamp(), executable, _md5_of(blob))


def _md5_of(blob: "BlobProperties") -> bytes:
    """The MD5 that the writer of a blob set; empty if there is none."""
    return bytes(blob.content_settings.content_md5 or b"")


async def _in_order(fetch: Callable[[int], Any], starts: range) -> AsyncIterator[FileChunk]:
    """The results of `fetch` for these offsets, in order, several fetched at once."""
    ahead, under_way = iter(starts), list[asyncio.Task[FileChunk]]()
    try:
        while True:
            while len(under_way) < _AHEAD and (first := next(ahead, None)) is not None:
                under_way.append(asyncio.create_task(fetch(first)))
            if not under_way:
                return
            yield await under_way.pop(0)
    finally:
        await _cancel(under_way)


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel the running tasks, and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _staged(blob: "BlobClient") -> set[str]:
    """The ids of blocks that an interrupted run left."""
    from azure.core.exceptions import ResourceNotFoundError

    try:
        _, uncommitted = await blob.get_block_list("uncommitted")
    except ResourceNotFoundError:
        return set()
    return {_plain(block.id) for block in uncommitted}


def _plain(block_id: str) -> str:
    """The original id: the SDK encodes it, and does not always decode it."""
    try:
        return base64.b64decode(block_id, validate=True).decode("ascii")
    except ValueError:
        return block_id


def _read(path: Path, block: Block) -> bytes:
    """A block of a file. Raises Failure if it has changed."""
    stream: BinaryIO
    with path.open("rb") as stream:
        stream.seek(block.first)
        data = stream.read(block.size)
    if hashlib.md5(data, usedforsecurity=False).digest() != block.md5:
        raise Failure("it changes while it is read; put it again when it is complete")
    return data
