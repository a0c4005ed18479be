"""Receipts: a small blob for each blob, version and function that was seen, so that each fires once.

Layout and protocol as in BlobReceiptManager.cs: create if absent, lease for 30 s, mark as completed.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceModifiedError
from azure.storage.blob.aio import ContainerClient

_LEASE = 30
_COMPLETED = {"Completed": "true"}


class Receipts:
    """The receipts of one function."""

    def __init__(self, container: ContainerClient, host: str, function: str) -> None:
        self._container = container
        self._prefix = f"blobreceipts/{host}/Host.Functions.{function}"

    @asynccontextmanager
    async def claim(self, etag: str, path: str) -> AsyncIterator[bool]:
        """Whether this version is ours to announce; at the normal end of the block it is marked as announced.

        False if it was announced before, or another host is announcing it now.
        """
        blob = self._container.get_blob_client(f"{self._prefix}/{etag}/{path}")
        with suppress(ResourceExistsError, ResourceModifiedError):
            await blob.upload_blob(b"", overwrite=False)
        if (await blob.get_blob_properties()).metadata.get("Completed"):
            yield False
            return
        try:
            lease = await blob.acquire_lease(lease_duration=_LEASE)
        except AzureError:
            yield False
            return
        try:
            yield True
            await blob.set_blob_metadata(_COMPLETED, lease=lease)
        finally:
            with suppress(AzureError):
                await lease.release()
