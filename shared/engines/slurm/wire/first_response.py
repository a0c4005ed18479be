"""Reads the first of two responses to one request: slurmrestd 26.05 sends a second one after each error.

aiohttp treats the second as broken HTTP, and returns neither. Only such answers are read here.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shared.connections.stream import stream

_LENGTH = re.compile(rb"^content-length: *(\d+)\r$", re.I | re.M)


class Response(NamedTuple):
    """A response: status, and a text that may be JSON."""

    status: int
    text: str


async def first_response(
    method: str, url: str, body: Any, headers: Mapping[str, str], seconds: float
) -> Response:
    """Send the request again, and read status and body. Raises OSError, EOFError or ValueError."""
    address = urlsplit(url)
    tls = address.scheme == "https"
    content = b"" if body is None else json.dumps(body).encode()
    path = f"{address.path}?{address.query}" if address.query else address.path
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {address.netloc}",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    ]
    async with asyncio.timeout(seconds):
        reader, writer = await stream(address.hostname or "", address.port or (443 if tls else 80), tls=tls)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + content)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            if length is None:
                raise ValueError("no length")
            return Response(
                int(head.split(None, 2)[1]),
                (await reader.readexactly(int(length[1]))).decode(errors="replace"),
            )
        finally:
            writer.close()
