"""What carries the bytes of a session after a request became one: a WebSocket, or the connection itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import aiohttp
from aiohttp import web

CHUNK = 1 << 16


class Carrier(Protocol):
    """Bytes in both directions, in order."""

    async def receive(self) -> bytes:
        """Some bytes; none at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """Send them. Raises ConnectionError when the other end is gone."""
        ...


class Messages:
    """A WebSocket that carries bytes in binary messages, whose bounds mean nothing to who reads them."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket

    async def receive(self) -> bytes:
        """The bytes of the next message that has some; none at the end."""
        async for message in self._socket:
            if message.type == aiohttp.WSMsgType.BINARY and message.data:
                return bytes(message.data)
        return b""

    async def send(self, data: bytes) -> None:
        """Send one message. Raises ConnectionError."""
        await self._socket.send_bytes(data)


class Connection:
    """The connection of a request that both ends use for another protocol from its answer on."""

    def __init__(self, response: web.StreamResponse, reader: asyncio.StreamReader) -> None:
        self.response = response
        self._reader = reader

    @classmethod
    async def upgraded(cls, request: web.Request, headers: Mapping[str, str]) -> Connection:
        """Answer a request with 101, and take its connection over."""
        reader = asyncio.StreamReader()
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client is gone")
        reader.set_transport(transport)
        protocol: Any = request.protocol  # it takes any parser, and says that it takes one of WebSockets
        protocol.set_parser(_Parser(reader))
        response = web.StreamResponse(status=101, headers={"Connection": "Upgrade", **headers})
        response.force_close()
        await response.prepare(request)
        return cls(response, reader)

    async def receive(self) -> bytes:
        """What has come; none at the end."""
        return await self._reader.read(CHUNK)

    async def send(self, data: bytes) -> None:
        """Send them. Raises ConnectionError."""
        await self.response.write(data)


class _Feed(NamedTuple):
    """Whether the connection is over, and what is not of it."""

    is_over: bool = False
    rest: bytes = b""


class _Parser:
    """Takes what comes on a connection, as aiohttp gives it."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def feed_data(self, data: bytes) -> _Feed:
        """All that comes is of the connection."""
        self._reader.feed_data(data)
        return _Feed()

    def feed_eof(self) -> None:
        """The connection is over."""
        self._reader.feed_eof()
