"""Ranged reads of signed download addresses, over one pooled session. Addresses are secrets: never shown."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from shared.core.errors import NotFound, Transient
from shared.core.ports import LogChunk

if TYPE_CHECKING:
    from aiohttp import ClientSession, StreamReader

#: Seconds that an address is used again; the service signs them for an hour.
_FRESH = 1800.0
_KEPT = 500


class Downloads:
    """The session, and the addresses that are still valid."""

    def __init__(self) -> None:
        self._session: ClientSession | None = None
        self._addresses: dict[str, tuple[str, float]] = {}

    def known(self, key: str) -> str | None:
        """An address that was used for this file and is still valid."""
        url, until = self._addresses.get(key, ("", 0.0))
        return url if until > time.monotonic() else None

    async def read(self, key: str, url: str, offset: int, limit: int) -> LogChunk:
        """Bytes from an offset; none at the end of the file. Raises NotFound, Transient."""
        from aiohttp import ClientError, ClientSession, ClientTimeout

        if self._session is None:
            self._session = ClientSession(timeout=ClientTimeout(total=30))
        wanted = {"Range": f"bytes={offset}-{offset + limit - 1}"}
        try:
            async with self._session.get(url, headers=wanted, allow_redirects=False) as answer:
                if answer.status == 416:
                    return self._keep(key, url, LogChunk(b"", offset))
                if answer.status in (403, 404):
                    self._addresses.pop(key, None)
                    raise NotFound("the file is not there any more")
                if answer.status not in (200, 206):
                    raise Transient(f"the file's server answered {answer.status}")
                # A server that ignores Range sends everything from the start.
                skipped = offset if answer.status == 200 else 0
                data = (await _upto(answer.content, skipped + limit))[skipped:]
        except (ClientError, TimeoutError) as error:
            raise Transient(f"the file's server did not answer: {type(error).__name__}") from None
        return self._keep(key, url, LogChunk(data, offset + len(data)))

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _keep(self, key: str, url: str, chunk: LogChunk) -> LogChunk:
        if len(self._addresses) >= _KEPT:
            self._addresses.clear()
        self._addresses.setdefault(key, (url, time.monotonic() + _FRESH))
        return chunk


async def _upto(content: StreamReader, limit: int) -> bytes:
    """At most so many bytes of an answer."""
    data = bytearray()
    while len(data) < limit and (part := await content.read(limit - len(data))):
        data += part
    return bytes(data)
