"""The drop container and the container of answers, in blobs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from shared.errors import Misuse
from shared.ports import Blob
from shared.storage.connection import Account, storage_errors

if TYPE_CHECKING:
    from azure.storage.blob.aio import BlobClient


class BlobDrops:
    """The drops port. `readable` names the containers that a `specBlob` may point into."""

    def __init__(self, account: Account, drops: str, answers: str, readable: Collection[str]) -> None:
        self._account = account
        self._drops = drops
        self._answers = answers
        self._readable = frozenset(readable)

    async def list(self, prefix: str, *, deep: bool = True) -> list[Blob]:
        """Flat, or one level by delimiter. A container that is missing is empty."""
        from azure.core.exceptions import ResourceNotFoundError
        from azure.storage.blob import BlobProperties

        container = self._account.blobs.get_container_client(self._drops)
        listing = (
            container.list_blobs(name_starts_with=prefix)
            if deep
            else container.walk_blobs(name_starts_with=prefix, delimiter="/")
        )
        async with storage_errors():
            try:
                return [
                    Blob(item.name, item.etag.strip('"'), item.last_modified, item.size)
                    async for item in listing
                    if isinstance(item, BlobProperties)
                ]
            except ResourceNotFoundError:
                return []

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> tuple[bytes, str] | None:
        """One version of one dropped blob."""
        return await self._read(self._drops, name, etag, limit)

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        """`container/name`; raises Misuse for a container that is not for specs."""
        container, _, name = reference.partition("/")
        if container not in self._readable:
            known = ", ".join(sorted(self._readable))
            raise Misuse(
                f"container {container[:63]!r} may not be read", remedy=f"put the spec into one of: {known}"
            )
        found = await self._read(container, name, None, limit)
        return found[0] if found else None

    async def put_answer(self, name: str, body: bytes, *, replace: bool) -> None:
        """Write an answer; makes the container at the first one."""
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
        from azure.storage.blob import ContentSettings

        kind = "application/json" if name.endswith(".json") else "text/plain; charset=utf-8"
        blob = self._account.blobs.get_blob_client(self._answers, name)
        settings = ContentSettings(content_type=kind)
        async with storage_errors():
            for _ in range(2):
                try:
                    await blob.upload_blob(body, overwrite=replace, content_settings=settings)
                except ResourceNotFoundError:
                    await self._make_answers()
                except ResourceExistsError:
                    return  # a later answer stands there, or our own whose acknowledgement was lost
                else:
                    return

    async def drop_answer(self, name: str) -> None:
        """Delete; missing is success."""
        from azure.core.exceptions import ResourceNotFoundError

        async with storage_errors():
            try:
                await self._account.blobs.get_blob_client(self._answers, name).delete_blob()
            except ResourceNotFoundError:
                return

    async def _make_answers(self) -> None:
        from azure.core.exceptions import ResourceExistsError

        try:
            await self._account.blobs.create_container(self._answers)
        except ResourceExistsError:
            return

    async def _read(
        self, container: str, name: str, etag: str | None, limit: int
    ) -> tuple[bytes, str] | None:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError

        blob: BlobClient = self._account.blobs.get_blob_client(container, name)
        condition: dict[str, Any] = {}
        if etag:
            condition = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
        async with storage_errors():
            try:
                stream = await blob.download_blob(max_concurrency=1, **condition)
                if stream.size > limit:
                    raise Misuse(
                        f"{container}/{name} has {stream.size} bytes, more than {limit}",
                        remedy="make it smaller; data belongs into a mounted container",
                    )
                return await stream.readall(), str(stream.properties.etag).strip('"')
            except (ResourceNotFoundError, ResourceModifiedError):
                return None
