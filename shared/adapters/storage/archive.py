"""The archive in blobs. A blob holds the lines of many jobs, because it costs 150 times as much as a row."""

from __future__ import annotations

from shared.adapters.storage.wire.block import make_container, try_blob
from shared.adapters.storage.wire.connection import Account, storage_errors
from shared.core.errors import Unavailable
from shared.core.ledger.finished_jobs import LineLocation


class BlobArchive:
    """The archive port over one container, which is made at the first write."""

    def __init__(self, account: Account, container: str) -> None:
        self._account = account
        self._container = container

    async def put(self, name: str, lines: bytes) -> None:
        """Whole, in one request; the same name has the same content."""
        from azure.core.exceptions import ResourceNotFoundError
        from azure.storage.blob import ContentSettings

        blob = self._account.blobs.get_blob_client(self._container, name)
        settings = ContentSettings(content_type="application/x-ndjson")
        async with storage_errors():
            for _ in range(2):
                try:
                    await blob.upload_blob(lines, overwrite=True, content_settings=settings)
                    return
                except ResourceNotFoundError:
                    await make_container(self._account, self._container)
        raise Unavailable(f"container {self._container} cannot be created: it is being deleted")

    async def try_write(self) -> None:
        """A block that is never committed; makes the container if it is missing."""
        await try_blob(self._account, self._container)

    async def read(self, location: LineLocation) -> bytes | None:
        """The bytes of one line."""
        from azure.core.exceptions import ResourceNotFoundError

        blob = self._account.blobs.get_blob_client(self._container, location.name)
        async with storage_errors():
            try:
                stream = await blob.download_blob(location.start, location.length, max_concurrency=1)
                content: bytes = await stream.readall()
            except ResourceNotFoundError:
                return None
        return content
