"""The archives of code as blobs: written once, read by signed addresses, deleted in the version listed.

A touch is a write of metadata: it changes the ETag and the Last-Modified of the blob, and not its bytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from urllib.parse import quote

from shared.adapters.storage.wire.bloblist import Blob, blob_of, head_blob, list_blobs
from shared.adapters.storage.wire.block import make_container
from shared.adapters.storage.wire.connection import Account, Connection, storage_errors
from shared.adapters.storage.wire.marks import KEY, MARK, Marks
from shared.adapters.storage.wire.sas import create_blob, read_blob
from shared.adapters.storage.wire.signing_key import LONGEST, SigningKey
from shared.core.code.snapshots import Snapshot
from shared.core.errors import Unavailable

#: The number of blobs on a page of the list: the most that storage puts there.
_PAGE = 5_000


class BlobSnapshots:
    """The port over one container, which is made when something is to be written."""

    def __init__(
        self, account: Account, connection: Connection, container: str, clock: Callable[[], datetime]
    ) -> None:
        self._account, self._connection, self._container = account, connection, container
        self._clock, self._key = clock, SigningKey(account, connection, LONGEST, clock)
        self._is_made = False
        self._marks = Marks(account, self._path(KEY), self.put)

    @property
    def longest(self) -> timedelta | None:
        """By an identity a week, less what clocks may differ."""
        return None if self._connection.string else LONGEST

    async def find(self, blob: str) -> Snapshot | None:
        """One HEAD, and a list for what only its uploader may read.

        It also shows that the container is gone: then the next upload makes it again.
        """
        answer = await head_blob(self._account.lists, self._container, blob)
        if answer.headers.get("x-ms-error-code") == "ContainerNotFound":
            self._is_made = False
            self._marks.forget()
        if answer.status == HTTPStatus.CONFLICT:  # what its uploader encrypted is only listed
            page = await list_blobs(self._account.lists, self._container, blob, 1, "", deep=True)
            stored = next((one for one in page.blobs if one.name == blob), None)
        else:
            stored = blob_of(blob, answer)
        return None if stored is None else await self._snapshot(stored)

    async def upload_address(self, blob: str, until: datetime) -> str:
        """The right to create, without that to write, takes one PUT of a blob that is not there yet.

        The container is made first, once in a process, and once more after `find` has not found it: an upload
        to a missing one fails, and its sender cannot make it.
        """
        if not self._is_made:
            async with storage_errors():
                await make_container(self._account, self._container)
            self._is_made = True
        return await self._address(blob, until, create_blob)

    async def read_address(self, blob: str, until: datetime) -> str:
        """By an identity, for a week at most."""
        return await self._address(blob, until, partial(read_blob, file=blob.rpartition("/")[2]))

    async def _address(self, blob: str, until: datetime, sign: Callable[..., str]) -> str:
        async with storage_errors():
            key = await self._key.key()
        if key.delegated:
            until = min(until, self._clock() + LONGEST)
        base, path = self._connection.address("blob"), f"{self._container}/{blob}"
        query = sign(self._connection.account(), path, key, until, https=base.startswith("https:"))
        return f"{base}/{quote(path, safe='/~')}?{query}"

    async def put(self, blob: str, data: bytes) -> bool:
        """One conditional PUT; the container is made at the first one."""
        headers = {"x-ms-blob-type": "BlockBlob", "If-None-Match": "*"}
        expected = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
        for _ in range(2):
            answer = await self._account.lists.call(
                "PUT", self._path(blob), headers=headers, body=data, expected=expected
            )
            if answer.status != HTTPStatus.NOT_FOUND:
                return answer.status != HTTPStatus.CONFLICT
            async with storage_errors():
                await make_container(self._account, self._container)
        raise Unavailable(f"container {self._container} cannot be created: it is being deleted")

    async def touch(self, blob: str) -> bool:
        """One PUT of metadata; the first one in a process reads the key of the marks."""
        answer = await self._account.lists.call(
            "PUT",
            self._path(blob),
            {"comp": "metadata"},
            headers={f"x-ms-meta-{MARK}": await self._marks.mark_of(blob)},
            expected=(HTTPStatus.NOT_FOUND,),
        )
        return answer.status != HTTPStatus.NOT_FOUND

    async def read(self, blob: str) -> AsyncIterator[bytes]:
        """By the SDK, which reads in parts."""
        from azure.core.exceptions import ResourceNotFoundError

        client = self._account.blobs.get_blob_client(self._container, blob)
        async with storage_errors():
            try:
                stream = await client.download_blob(max_concurrency=1)
                async for part in stream.chunks():
                    yield part
            except ResourceNotFoundError:
                return

    async def listed(self) -> AsyncIterator[Snapshot]:
        """A request for each 5,000."""
        after = ""
        while True:
            page = await list_blobs(self._account.lists, self._container, "", _PAGE, after, deep=True)
            for one in page.blobs:
                if one.name != KEY:
                    yield await self._snapshot(one)
            if not (after := page.next):
                return

    async def delete(self, blob: str, etag: str) -> bool:
        """With the ETag as a condition: what was touched since then stays.

        With what storage calls snapshots: its uploader may make one, and it would keep the blob.
        """
        answer = await self._account.lists.call(
            "DELETE",
            self._path(blob),
            headers={"If-Match": f'"{etag}"', "x-ms-delete-snapshots": "include"},
            expected=(HTTPStatus.NOT_FOUND, HTTPStatus.PRECONDITION_FAILED),
        )
        return answer.status < HTTPStatus.BAD_REQUEST

    def _path(self, blob: str) -> str:
        return f"/{quote(self._container)}/{quote(blob, safe='/~')}"

    async def _snapshot(self, stored: Blob) -> Snapshot:
        accepted = await self._marks.is_on(stored)
        is_readable = stored.tier.lower() != "archive" and not stored.encoding and not stored.is_keyed
        return Snapshot(stored.name, stored.size, stored.etag, stored.modified, accepted, is_readable)
