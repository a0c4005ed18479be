"""The audit trail in append blobs: storage only adds blocks at their end, and never changes existing ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from shared.adapters.storage.wire.connection import Account, storage_errors
from shared.core.errors import Unavailable
from shared.core.ledger.activity import Act, Hour

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient

_FOLDER = "activity/"
_DAY = re.compile(rf"{_FOLDER}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})/", re.ASCII)
_HOUR = re.compile(rf"{_DAY.pattern}([0-9]{{2}})\.jsonl", re.ASCII)


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

    async def days(self) -> Sequence[str]:
        """One request for 5,000 days."""
        from azure.core.exceptions import ResourceNotFoundError

        container = self._account.blobs.get_container_client(self._container)
        names: list[str] = []
        async with storage_errors():
            with suppress(ResourceNotFoundError):
                async for one in container.walk_blobs(name_starts_with=_FOLDER, delimiter="/"):
                    names.append(str(one.name))
        return [match[1] for name in names if (match := _DAY.fullmatch(name))]

    async def hours(self, day: str) -> Sequence[Hour]:
        """One request."""
        from azure.core.exceptions import ResourceNotFoundError

        container = self._account.blobs.get_container_client(self._container)
        hours: list[Hour] = []
        async with storage_errors():
            with suppress(ResourceNotFoundError):
                async for blob in container.list_blobs(name_starts_with=f"{_FOLDER}{day}/"):
                    if match := _HOUR.fullmatch(str(blob.name)):
                        hours.append(Hour(match[2], int(blob.size or 0)))
        return hours

    async def read(self, day: str, hour: str, start: int, end: int) -> bytes:
        """One request."""
        from azure.core.exceptions import HttpResponseError

        blob = self._account.blobs.get_blob_client(self._container, f"{_FOLDER}{day}/{hour}.jsonl")
        async with storage_errors():
            try:
                stream = await blob.download_blob(start, end - start, max_concurrency=1)
                content: bytes = await stream.readall()
            except HttpResponseError as error:
                if error.status_code not in (404, 416):
                    raise
                return b""  # it was deleted, or replaced by a shorter one
        return content

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
