"""A connection without HTTP, opened as those of sessions are: no caller can cancel the attempt."""

from __future__ import annotations

import asyncio
from typing import NamedTuple


class Stream(NamedTuple):
    """The two ends of a connection. Close the writer at the end."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def stream(host: str, port: int, *, tls: bool) -> Stream:
    """Connect. Raises OSError. A connection that is made when the caller has given up is closed at once."""
    attempt = asyncio.create_task(asyncio.open_connection(host, port, ssl=tls or None))
    try:
        return Stream(*await asyncio.shield(attempt))
    except asyncio.CancelledError:
        attempt.add_done_callback(_close)
        raise


def _close(attempt: asyncio.Task[tuple[asyncio.StreamReader, asyncio.StreamWriter]]) -> None:
    if not attempt.cancelled() and attempt.exception() is None:
        attempt.result()[1].close()
