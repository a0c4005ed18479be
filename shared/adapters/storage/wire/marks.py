"""The mark of an archive with which a job was accepted, which only the app can make.

The uploader of an archive writes its metadata, too. So the mark is a code of the archive's name, by a key
that lies in the same container, under a name for which no address is ever signed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from shared.adapters.storage.wire.bloblist import Blob, blob_of
from shared.adapters.storage.wire.connection import Account

#: The name of the blob with the key; an archive has a slash in its name.
KEY = ".marks"
#: The metadata of an archive with the mark.
MARK = "accepted"


class _Key(NamedTuple):
    secret: bytes
    since: datetime


class Marks:
    """The marks of one container. The key is read once in a process, and made with the first mark."""

    def __init__(self, account: Account, path: str, put: Callable[[str, bytes], Awaitable[bool]]) -> None:
        """`path` of the key in the service of blobs; `put` writes a blob that is not there."""
        self._account, self._path, self._put = account, path, put
        self._own: _Key | None = None

    def forget(self) -> None:
        """Read the key again: the container is gone."""
        self._own = None

    async def mark_of(self, blob: str) -> str:
        """The mark of an archive. Raises Unavailable."""
        return _mark((await self._key()).secret, blob)

    async def is_on(self, stored: Blob) -> bool:
        """Whether the app has marked an archive. One from before the key had a mark of an earlier key."""
        mark = next((text for name, text in stored.metadata.items() if name.lower() == MARK), "")
        if not mark:
            return False
        key = await self._key()
        is_own = hmac.compare_digest(mark.encode(), _mark(key.secret, stored.name).encode())
        return is_own or stored.modified <= key.since

    async def _key(self) -> _Key:
        while self._own is None:
            answer = await self._account.lists.call("GET", self._path, expected=(HTTPStatus.NOT_FOUND,))
            if (stored := blob_of(KEY, answer)) is not None:
                self._own = _Key(answer.body, stored.modified)
            else:
                await self._put(KEY, secrets.token_bytes(32))
        return self._own


def _mark(secret: bytes, blob: str) -> str:
    return hmac.new(secret, blob.encode(), hashlib.sha256).hexdigest()
