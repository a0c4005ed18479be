"""The channels of a command that runs in a container, as the client asked for them: WebSocket or SPDY."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Protocol

import aiohttp
from aiohttp import web

from local.kubernetes.kubelet.carriers import Connection
from local.kubernetes.kubelet.spdy import Gate, Session, Stream

#: The newest of both ways: of the older ones no kubectl of 1.20 or later speaks any.
_MESSAGES = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STREAMS = "v4.channel.k8s.io"
_PROTOCOL = "X-Stream-Protocol-Version"
#: Of a message of a WebSocket, its first byte; the number of a channel is its place here.
_NAMES = ("stdin", "stdout", "stderr", "error", "resize")
_CLOSED = 255


class Channels(Protocol):
    """Those of one command."""

    stdin: asyncio.StreamReader
    #: lines of JSON
    sizes: asyncio.StreamReader
    #: what the request was answered with
    response: web.StreamResponse

    async def write(self, name: str, data: bytes) -> None:
        """Write to `stdout`, `stderr` or `error`. Raises ConnectionError."""
        ...

    async def close(self) -> None:
        """End all of them."""
        ...


async def channels(request: web.Request) -> Channels:
    """The channels that a request asks for, once they are open. Raises HTTPBadRequest."""
    if request.headers.get("Upgrade", "").lower() == "websocket":
        socket = web.WebSocketResponse(protocols=_MESSAGES, max_msg_size=0, compress=False)
        await socket.prepare(request)
        return _Messages(socket)
    if _STREAMS not in _protocols(request):
        raise web.HTTPBadRequest(text=f"this node speaks {_STREAMS} only")
    upgrade = {"Upgrade": "SPDY/3.1", _PROTOCOL: _STREAMS}
    connection = await Connection.upgraded(request, upgrade)
    query = request.query
    parts = {"input": "stdin", "output": "stdout", "error": "stderr", "tty": "resize"}
    names = {"error", *(name for part, name in parts.items() if query.get(part) == "1")}
    if query.get("tty") == "1":
        names.discard("stderr")
    return await _Streams.opened(connection, names)


async def sizes(source: Channels) -> AsyncIterator[tuple[int, int]]:
    """The sizes of the person's terminal, rows and columns, as they change."""
    async for line in source.sizes:
        with suppress(ValueError, KeyError, TypeError):
            size = json.loads(line)
            yield int(size["Height"]), int(size["Width"])


def _protocols(request: web.Request) -> list[str]:
    lists = request.headers.getall(_PROTOCOL, [])
    return [name.strip() for names in lists for name in names.split(",")]


class _Messages:
    """Each message begins with the number of its channel."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.response: web.StreamResponse = socket
        self._socket = socket
        self._gate = Gate()
        self.stdin = self._gate.reader
        self.sizes = asyncio.StreamReader()
        self._reading = asyncio.create_task(self._read())

    async def write(self, name: str, data: bytes) -> None:
        await self._socket.send_bytes(bytes([_NAMES.index(name)]) + data)

    async def close(self) -> None:
        self._reading.cancel()
        await self._socket.close()

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type == aiohttp.WSMsgType.BINARY and message.data:
                    await self._take(message.data[0], message.data[1:])
        finally:
            self.stdin.feed_eof()
            self.sizes.feed_eof()

    async def _take(self, number: int, data: bytes) -> None:
        if number == _CLOSED and data == b"\0":
            self.stdin.feed_eof()
        elif number == _NAMES.index("stdin"):
            await self._gate.passed()
            self.stdin.feed_data(data)
        elif number == _NAMES.index("resize"):
            self.sizes.feed_data(data.strip() + b"\n")


class _Streams:
    """Each channel is a stream, which the client opens."""

    def __init__(
        self, response: web.StreamResponse, streams: dict[str, Stream], reading: asyncio.Task[None]
    ) -> None:
        self.response = response
        self._streams = streams
        self._reading = reading
        self.stdin, self.sizes = (self._reader(name) for name in ("stdin", "resize"))

    @classmethod
    async def opened(cls, connection: Connection, names: set[str]) -> _Streams:
        """Wait until the client has opened them. Raises ConnectionError where it goes before that."""
        streams: dict[str, Stream] = {}
        are_there = asyncio.Event()

        def take(stream: Stream) -> None:
            streams[stream.headers.get("streamtype", "")] = stream
            if names <= streams.keys():
                are_there.set()

        reading = asyncio.create_task(Session(connection).run(take))
        reading.add_done_callback(lambda _: are_there.set())
        await are_there.wait()
        if not names <= streams.keys():
            raise ConnectionResetError("the client went before it opened its streams")
        return cls(connection.response, streams, reading)

    async def write(self, name: str, data: bytes) -> None:
        await self._streams[name].write(data)

    async def close(self) -> None:
        with suppress(ConnectionError):
            for stream in self._streams.values():
                await stream.close()
        self._reading.cancel()

    def _reader(self, name: str) -> asyncio.StreamReader:
        if name in self._streams:
            return self._streams[name].reader
        empty = asyncio.StreamReader()
        empty.feed_eof()
        return empty
