"""What the worker asks by HTTP, answered in the process: the table takes all rows, a receiver all events."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession

#: Stands before each row of a transaction.
_ROW = b"Content-Transfer-Encoding: binary"
_LAYOUT = re.compile(rb'^{"PartitionKey":"meta","RowKey":"\w+".*}', re.MULTILINE)
_ETAG = "W/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\""
_PART = b"--changesetresponse_1\r\n\r\nHTTP/1.1 204 No Content\r\nETag: " + _ETAG.encode() + b"\r\n\r\n\r\n"
_SERVER = {"server": "Windows-Azure-Table/1.0", "etag": _ETAG}


@dataclass
class Counted:
    """What came: requests of the table, the rows that they write and their bytes, and events."""

    requests: int = 0
    rows: int = 0
    size: int = 0
    events: int = 0
    layout: list[bytes] = field(default_factory=list)


@dataclass
class _Answer:
    """As much of an aiohttp response as is read."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    cookies: dict[str, str] = field(default_factory=dict)

    async def read(self) -> bytes:
        return self.body

    async def __aenter__(self) -> _Answer:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def release(self) -> None:
        """There is no connection."""

    async def wait_for_close(self) -> None:
        """There is none to wait for."""


def answer_in_process() -> Counted:
    """Let every session of aiohttp in this process ask no server, from now on."""
    counted = Counted()

    async def request(_: ClientSession, verb: str, address: Any, **options: Any) -> _Answer:
        path = str(address)
        if path.endswith("/$batch"):
            return _batch(counted, options["data"])
        if "/hooks/" in path:
            counted.events += 1
            return _event()
        if verb == "GET" and "%27meta%27" in path:  # what a process compares with its settings
            return _Answer(200, _SERVER, b'{"value":[%s]}' % b",".join(counted.layout))
        return _Answer(201 if verb == "POST" else 404, _SERVER)

    ClientSession._request = request  # type: ignore[method-assign,assignment]
    return counted


def _batch(counted: Counted, body: bytes) -> _Answer:
    rows = body.count(_ROW)
    counted.requests += 1
    counted.rows += rows
    counted.size += len(body)
    if not counted.layout:  # the first transaction
        counted.layout += _LAYOUT.findall(body)
    return _Answer(202, _SERVER, _PART * rows + b"--changesetresponse_1--")


def _event() -> _Answer:
    from shared.adapters.webhook.session import HEAD

    HEAD.get().feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    return _Answer(200, {})
