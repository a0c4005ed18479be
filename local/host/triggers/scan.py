"""Finds new versions of blobs by listing a container repeatedly, if the trigger's source is a scan."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient

from local.host.pattern import BlobPattern
from local.host.triggers.receipts import Receipts
from local.host.worker.contract import Function

_log = logging.getLogger("Host.blob")
_BUDGET = 10_000
_PAGE = 5000
#: Receipts are taken several at a time, so that a full container is announced in seconds.
_AT_ONCE = 16

Announce = Callable[[str, str, str, str], Awaitable[None]]


class Scan:
    """The scan of one function's container. Blobs that it has seen before cost no further request."""

    def __init__(
        self,
        function: Function,
        pattern: BlobPattern,
        container: ContainerClient,
        receipts: Receipts,
        announce: Announce,
    ) -> None:
        self._function = function
        self._pattern = pattern
        self._container = container
        self._receipts = receipts
        self._announce = announce
        self._etags: dict[str, str] = {}
        self._pass: set[str] = set()
        self._token: str | None = None
        self._unreachable = False

    async def run(self, every: float) -> None:
        """Scan every `every` seconds until cancelled."""
        while True:
            try:
                await self.scan_once()
                self._unreachable = False
            except ResourceNotFoundError:
                pass  # scanned until the container is created
            except AzureError as error:
                if not self._unreachable:
                    name = self._pattern.container
                    _log.warning("container %s cannot be scanned: %s", name, type(error).__name__)
                self._unreachable = True
            await asyncio.sleep(every)

    async def scan_once(self) -> None:
        """Look at up to 10,000 blobs, from where the last scan ended."""
        pages = self._container.list_blobs(
            name_starts_with=self._pattern.prefix or None, results_per_page=_PAGE
        ).by_page(self._token)
        looked = 0
        async for page in pages:
            blobs = [blob async for blob in page]
            await self._visit(blobs)
            looked += len(blobs)
            self._token = getattr(pages, "continuation_token", None) or None  # missing in the stub only
            if self._token is None:
                self._forget_deleted()
                return
            if looked >= _BUDGET:
                return

    async def _visit(self, blobs: list[BlobProperties]) -> None:
        self._pass.update(blob.name for blob in blobs)
        new = [
            b
            for b in blobs
            if self._etags.get(b.name) != b.etag
            and self._pattern.match(b.name) is not None
            and not b.name.endswith("/")  # Azure's host does not see it
        ]
        limit = asyncio.Semaphore(_AT_ONCE)

        async def bounded(blob: BlobProperties) -> None:
            async with limit:
                await self._consider(blob)

        await asyncio.gather(*(bounded(blob) for blob in new))

    async def _consider(self, blob: BlobProperties) -> None:
        etag = blob.etag.strip('"')
        path = f"{self._pattern.container}/{blob.name}"
        async with self._receipts.claim(etag, path) as ours:
            if ours:
                await self._announce(self._function.name, self._pattern.container, blob.name, etag)
        self._etags[blob.name] = blob.etag

    def _forget_deleted(self) -> None:
        self._etags = {name: etag for name, etag in self._etags.items() if name in self._pass}
        self._pass = set()
