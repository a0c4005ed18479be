"""Ranged reads from signed download addresses, over one pooled session.

Addresses are secrets: never shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.core.engine import FileChunk
from shared.core.errors import NotFound, Transient
from shared.core.no_answer import no_answer

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, StreamReader

#: Seconds that one read may take.
_PATIENCE = 30.0
_CONTENT_RANGE = re.compile(r"bytes (?:\d+-\d+|\*)/(\d+)")


class Refused(NotFound):
    """The server has no such file, or no longer accepts the address."""


class Downloads:
    """Reads over one HTTP session, which the first read opens."""

    def __init__(self) -> None:
        self._session: ClientSession | None = None

    async def read(self, url: str, offset: int, limit: int) -> FileChunk:
        """Bytes from an offset; none at the end of the file. Raises Refused, Transient."""
        from aiohttp import ClientError, ClientTimeout

        from shared.connections.session import session

        if self._session is None:
            self._session = session(timeout=ClientTimeout(total=_PATIENCE))
        # Request the bytes as they are stored: a compressed response has other offsets.
        headers = {"Range": f"bytes={offset}-{offset + limit - 1}", "Accept-Encoding": "identity"}
        try:
            async with self._session.get(url, headers=headers, allow_redirects=False) as answer:
                if _is_foreign(answer):
                    raise Transient(f"something between here and the file's server answered {answer.status}")
                if answer.status in (403, 404):
                    raise Refused("the file is not there any more")
                if answer.status not in (200, 206, 416):
                    raise Transient(f"the file's server answered {answer.status}")
                data = b""
                if answer.status != 416:
                    # A server that ignores Range sends everything from the start.
                    skipped = offset if answer.status == 200 else 0
                    data = (await _upto(answer.content, skipped + limit))[skipped:]
                end = offset + len(data)
                return FileChunk(data, end, _size(answer, end), answer.headers.get("ETag", ""))
        except (ClientError, TimeoutError) as error:
            raise Transient(f"the file's server did not answer: {no_answer(error, _PATIENCE)}") from None

    async def close(self) -> None:
        """Close the connections to storage."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _is_foreign(answer: ClientResponse) -> bool:
    """Whether a proxy or a portal answers with a page of its own: the server marks its answers."""
    marked = any(name.lower().startswith("x-ms-") for name in answer.headers)
    return answer.content_type == "text/html" and not marked


def _size(answer: ClientResponse, size: int) -> int:
    """The size of the whole file in bytes; `size` if the server does not report it."""
    match = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    if match:
        return int(match[1])
    whole = answer.content_length if answer.status == 200 else None
    return size if whole is None else whole


async def _upto(content: StreamReader, limit: int) -> bytes:
    """At most `limit` bytes of a response."""
    data = bytearray()
    while len(data) < limit and (chunk := await content.read(limit - len(data))):
        data += chunk
    return bytes(data)
