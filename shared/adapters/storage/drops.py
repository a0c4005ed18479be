"""The drop container and the container of receipts, in blobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.adapters.storage.wire.bloblist import find_blob, list_blobs
from shared.adapters.storage.wire.block import make_container, try_blob
from shared.adapters.storage.wire.connection import Account, storage_errors
from shared.adapters.storage.wire.listed_blob import as_listed, is_folder
from shared.core.errors import Misuse, Unavailable
from shared.core.ports import IN_ARCHIVE, OUT_OF_ARCHIVE, Blob, BlobPage, Content

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient, StorageStreamDownloader

#: The number of blobs on a page: some megabytes while it is read.
_PAGE = 1_000
#: How many STATUS lines a process remembers after it wrote or read them; each saves a request for the blob.
_LINES = 20_000
#: How often the write of a line is repeated if another writer was faster.
_RACES = 6


class _Line(NamedTuple):
    """The last STATUS line of a job in storage: the number of its change, and its ETag."""

    sequence: int
    etag: str


class BlobDrops:
    """The drops port. `readable` names the containers that a `specBlob` may point into."""

    def __init__(self, account: Account, drops: str, receipts: str, readable: Collection[str]) -> None:
        self._account = account
        self._drops = drops
        self._receipts = receipts
        self._readable = frozenset(readable) - {receipts}  # a receipt can never start a job
        self._lines: dict[str, tuple[int, str]] = {}

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        """One request. A missing container counts as empty."""
        page = await list_blobs(self._account.lists, self._drops, prefix, _PAGE, after, deep=deep)
        blobs = (as_listed(blob) for blob in page.blobs if not is_folder(blob.metadata))
        return BlobPage(tuple(blobs), page.next, page.folders)

    async def find(self, name: str) -> Blob | None:
        """A HEAD request, which costs a tenth of a list."""
        blob = await find_blob(self._account.lists, self._drops, name)
        return None if blob is None or is_folder(blob.metadata) else as_listed(blob)

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        """Read one version of one dropped blob."""
        return await self._read(self._drops, name, etag, limit)

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """Read `container/name`; raises Misuse for a container that may not hold specs."""
        container, _, name = reference.partition("/")
        if container not in self._readable:
            names = ", ".join(sorted(self._readable))
            raise Misuse(
                f"container {container[:63]!r} may not be read", remedy=f"put the spec into one of: {names}"
            )
        blob = await self._read(container, name, None, limit)
        return blob.data if blob else None

    async def put_receipt_file(self, name: str, body: bytes, *, replace: bool) -> None:
        """Write a file of a receipt, and create the container for the first one.

        The version of a new file is remembered.
        """
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
        from azure.storage.blob import ContentSettings

        blob = self._account.blobs.get_blob_client(self._receipts, name)
        settings = ContentSettings(content_type=_kind(name))
        async with storage_errors():
            for _ in range(2):
                try:
                    properties = await blob.upload_blob(body, overwrite=replace, content_settings=settings)
                except ResourceNotFoundError:
                    await make_container(self._account, self._receipts)
                except ResourceExistsError:
                    return  # a later file exists, or our own, whose acknowledgement was lost
                else:
                    if not replace:
                        self._remember(name, (0, str(properties["etag"])))
                    return
        raise Unavailable(f"container {self._receipts} cannot be created: it is being deleted")

    async def read_receipt_file(self, name: str, *, limit: int) -> bytes | None:
        """The current content of the blob."""
        blob = await self._read(self._receipts, name, None, limit)
        return blob.data if blob else None

    async def delete_receipt_file(self, name: str) -> None:
        """Delete a file of a receipt; a missing one is not an error."""
        from azure.core.exceptions import ResourceNotFoundError

        async with storage_errors():
            try:
                await self._account.blobs.get_blob_client(self._receipts, name).delete_blob()
            except ResourceNotFoundError:
                return

    async def put_status(self, name: str, line: bytes, sequence: int, *, fresh: bool = False) -> bool:
        """One conditional PUT if this process wrote the previous line or there is none; else a HEAD first.

        The number is in the blob's metadata. Each write names the ETag of the line that it replaces (or
        requires that there is none), so a late writer fails with 412 or 409, reads the line, and finds a
        greater number.
        """
        last, etag = self._lines.get(name), None
        if last is None and not fresh:
            last = await self._line(name)
        for _ in range(_RACES):
            if last is not None and last[0] >= sequence:
                break
            etag = await self._replace_line(name, line, sequence, last[1] if last else None)
            if etag is not None:
                last = (sequence, etag)
                break
            last = await self._line(name)
        if last is not None:
            self._remember(name, last)
        return etag is not None

    def _remember(self, name: str, line: tuple[int, str]) -> None:
        if len(self._lines) >= _LINES:
            self._lines.clear()
        self._lines[name] = line

    async def try_write(self) -> None:
        """A block that is never committed; makes the container if it is missing."""
        await try_blob(self._account, self._receipts)

    async def _replace_line(self, name: str, line: bytes, sequence: int, etag: str | None) -> str | None:
        """Write the line and return the new ETag; None if the blob is not in the expected version."""
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
        from azure.storage.blob import ContentSettings

        blob = self._account.blobs.get_blob_client(self._receipts, name)
        condition: dict[str, Any] = {"overwrite": False}
        if etag is not None:
            condition = {"overwrite": True, "etag": etag, "match_condition": MatchConditions.IfNotModified}
        condition["metadata"] = {"sequence": str(sequence)}
        condition["content_settings"] = ContentSettings(content_type=_kind(name))
        async with storage_errors():
            for _ in range(2):
                try:
                    return str((await blob.upload_blob(line, **condition))["etag"])
                except (ResourceExistsError, ResourceModifiedError):
                    return None
                except ResourceNotFoundError:
                    await make_container(self._account, self._receipts)
        return None

    async def _line(self, name: str) -> _Line | None:
        from azure.core.exceptions import ResourceNotFoundError

        async with storage_errors():
            try:
                blob = await self._account.blobs.get_blob_client(self._receipts, name).get_blob_properties()
            except ResourceNotFoundError:
                return None
        text = (blob.metadata or {}).get("sequence", "")
        return _Line(int(text) if text.isdecimal() else 0, str(blob.etag))

    async def _read(self, container: str, name: str, etag: str | None, limit: int) -> Content | None:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError

        blob: BlobClient = self._account.blobs.get_blob_client(container, name)
        condition: dict[str, Any] = {}
        if etag:
            condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
        async with storage_errors():
            try:
                stream = await _beginning(blob, limit + 1, condition)
                size = int(str(stream.properties.content_range).rpartition("/")[2])  # of the whole blob
                if size > limit:
                    raise Misuse(
                        f"{container}/{name} has {size} bytes, more than {limit}",
                        remedy="make it smaller; put data into a mounted container",
                    )
                return Content(await stream.readall(), str(stream.properties.etag).strip('"'))
            except (ResourceNotFoundError, ResourceModifiedError):
                return None
            except ResourceExistsError as error:  # any 409
                if getattr(error, "error_code", None) != "BlobArchived":
                    raise
                raise Misuse(f"{container}/{name} {IN_ARCHIVE}", status=409, remedy=OUT_OF_ARCHIVE) from error


async def _beginning(
    blob: BlobClient, length: int, condition: Mapping[str, Any]
) -> StorageStreamDownloader[bytes]:
    """Read at most `length` bytes of a blob.

    Without a range the SDK reads 32 MiB before it reports the size.
    """
    from azure.core.exceptions import HttpResponseError

    stream: StorageStreamDownloader[bytes]
    try:
        stream = await blob.download_blob(0, length, max_concurrency=1, **condition)
    except HttpResponseError as error:
        if error.status_code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        stream = await blob.download_blob(max_concurrency=1, **condition)  # it is empty, so it has no range
    return stream


def _kind(name: str) -> str:
    return "application/json" if name.endswith(".json") else "text/plain; charset=utf-8"
