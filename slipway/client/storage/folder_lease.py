"""Reserves a folder of the drop container for one upload at a time, with a lease on a hidden blob in it."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.settings import Settings
from slipway.client.storage.account import storage_account
from slipway.failure import Failure

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient, BlobLeaseClient

#: Hidden, so that no drop includes it; only its lease matters.
_NAME = ".slipway-upload"
#: Seconds that a lease lasts, the longest that storage allows, and seconds between renewals.
_SECONDS, _EVERY = 60, 20.0
#: How often the blob is created again after another upload has deleted it.
_TRIES = 5


@dataclass
class FolderLease:
    """A folder's lease, which the block may prolong."""

    #: the lease outlasts the block by a minute, in which the uploaded files become a job
    outlasts: bool = False


@asynccontextmanager
async def folder_lease(settings: Settings, folder: str) -> AsyncIterator[FolderLease]:
    """Hold a folder of the drop container. Raises Failure while another upload holds it."""
    container = settings.text("SLIPWAY_DROP_CONTAINER")
    async with storage_account(settings) as account:
        blob = account.blobs.get_blob_client(container, f"{folder}/{_NAME}")
        lease = await _lease(blob, f"{container}/{folder}/")
        state, renewal = FolderLease(), asyncio.create_task(_renew(lease))
        try:
            yield state
        finally:
            renewal.cancel()
            await asyncio.wait({renewal})
            await _release(blob, lease, state)


async def _lease(blob: "BlobClient", folder: str) -> "BlobLeaseClient":
    from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

    mine = str(uuid.uuid4())  # storage takes a repeated request for the same lease, whose answer was lost
    for _ in range(_TRIES):
        with suppress(HttpResponseError):  # it exists; if the container is missing, the next line fails
            await blob.upload_blob(b"", overwrite=False)
        try:
            return await blob.acquire_lease(_SECONDS, lease_id=mine)
        except ResourceNotFoundError as error:
            if str(getattr(error, "error_code", "")) == "ContainerNotFound":
                raise
        except HttpResponseError as error:
            if error.status_code != 409:
                raise
            raise _busy(folder) from None
    raise _busy(folder)


def _busy(folder: str) -> Failure:
    return Failure(
        f"another upload into {folder} is under way, or was broken off within the last minute; let it "
        "become a job first, or send this one to a folder of its own: --name of `run`, --to of `drop`"
    )


async def _renew(lease: "BlobLeaseClient") -> None:
    from azure.core.exceptions import AzureError

    while True:
        await asyncio.sleep(_EVERY)
        with suppress(AzureError):  # the next try may succeed before the lease ends
            await lease.renew()


async def _release(blob: "BlobClient", lease: "BlobLeaseClient", state: FolderLease) -> None:
    """Delete the blob; if that fails, the lease ends by itself."""
    from azure.core.exceptions import AzureError

    with suppress(AzureError):
        if state.outlasts:
            await lease.renew()
        else:
            await blob.delete_blob(lease=lease)
