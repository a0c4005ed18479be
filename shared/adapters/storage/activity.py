"""The audit trail in append blobs: storage only adds blocks at their end, and never changes existing ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from shared.adapters.storage.wire.connection import Account, storage_errors
from shared.core.errors import Unavailable
from shared.core.ledger.activity import Act

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient


class BlobActivity:
    """The port over the container of the archive. Blobs, and the container, are made at their first write."""

    def __init__(self, account: Account, container: str) -> None:
        self._account = account
        self._container = container

    async def add(self, act: Act) -> None:
        """One request, and two more for the first act of an hour."""
        from azure.core.exceptions import ResourceNotFoundError

        blob = self._account.blobs.get_blob_client(self._container, act.blob)
        async with storage_errors():
            for _ in range(4):
                try:
                    await blob.append_block(act.line)
                    return
                except ResourceNotFoundError:
                    await self._make(blob)
        raise Unavailable(
            f"blob {act.blob} of container {self._container} cannot be made: it is being deleted"
        )

    async def _make(self, blob: BlobClient) -> None:
        """Create the blob, or the container if that is missing.

        Of two concurrent processes, one creates it.
        """
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

        with suppress(ResourceExistsError):
            try:
                await blob.create_append_blob(match_condition=MatchConditions.IfMissing)
            except ResourceNotFoundError:
                await self._account.blobs.create_container(self._container)
