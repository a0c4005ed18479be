"""A lock that one host at a time holds: the lease of a blob, renewed while it is held.

Source: SingletonListener.cs of the WebJobs SDK: a host that does not get the lock tries again by a timer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob.aio import BlobLeaseClient, ContainerClient

from local.host.times import Times

_log = logging.getLogger("Host.lock")

#: The share of a lease after which it is renewed.
_RENEWED = 0.5


@asynccontextmanager
async def hold(
    container: ContainerClient, name: str, what: str, times: Times
) -> AsyncIterator[asyncio.Event]:
    """Wait for the lock and hold it for the block; the event is set if the lock is lost meanwhile."""
    lease = await _acquire(container, name, what, times)
    lost = asyncio.Event()
    renewal = asyncio.create_task(_renew(lease, lost, what, times.timer_lease * _RENEWED))
    try:
        yield lost
    finally:
        renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal
        with suppress(AzureError):
            await lease.release()


async def _acquire(container: ContainerClient, name: str, what: str, times: Times) -> BlobLeaseClient:
    blob = container.get_blob_client(name)
    logged = False
    while True:
        try:
            return await blob.acquire_lease(lease_duration=round(times.timer_lease))
        except ResourceNotFoundError:
            with suppress(ResourceExistsError):
                await container.create_container()
            with suppress(ResourceExistsError):
                await blob.upload_blob(b"", overwrite=False)
            continue
        except AzureError as error:
            if not logged:
                _log.info("%s waits for its lock (%s)", what, type(error).__name__)
            logged = True
        await asyncio.sleep(times.timer_retry)


async def _renew(lease: BlobLeaseClient, loss: asyncio.Event, what: str, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        try:
            await lease.renew()
        except HttpResponseError as error:
            _log.warning("%s lost its lock (%s)", what, error.reason)
            loss.set()
            return
        except AzureError as error:
            _log.warning("the lock of %s could not be renewed: %s", what, type(error).__name__)
