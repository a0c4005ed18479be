"""A server whose TLS handshakes wait until the test lets them go on: so long a client connects."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from local.batchai.https.certificate import certificate, server_context


class HeldServer:
    """`connections` counts what was accepted, `open` what is still open; `begun` is set by the first one."""

    def __init__(self, folder: Path, *, held: bool = True) -> None:
        self.connections = self.open = self.port = 0
        self.begun, self.free = asyncio.Event(), asyncio.Event()
        self.closed = asyncio.Event()
        if not held:
            self.free.set()
        file = certificate(folder)
        self._tls = server_context(file)
        self.client_tls = ssl.create_default_context(cafile=file)
        self._handshakes: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/"

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[HeldServer]:
        """Listen for the length of the block."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Accepted(self), host, port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.free.set()
            server.close()
            await asyncio.gather(*self._handshakes, return_exceptions=True)

    def accept(self, transport: Any) -> None:
        """Begin the handshake of a connection when the test allows it."""
        self.connections += 1
        self.open += 1
        self.begun.set()
        self._handshakes.add(asyncio.create_task(self._shake_hands(transport)))

    async def _shake_hands(self, transport: Any) -> None:
        await self.free.wait()
        loop, answering = asyncio.get_running_loop(), _Answering(self)
        tls = await loop.start_tls(transport, answering, self._tls, server_side=True)
        answering.connection_made(tls)


class _Accepted(asyncio.Protocol):
    def __init__(self, server: HeldServer) -> None:
        self._server = server

    def connection_made(self, transport: Any) -> None:
        transport.pause_reading()
        self._server.accept(transport)


class _Answering(asyncio.Protocol):
    """Answers each request with how many came over this connection."""

    def __init__(self, server: HeldServer) -> None:
        self._server, self._requests = server, 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._requests += data.count(b"\r\n\r\n")
        body = str(self._requests).encode()
        self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def connection_lost(self, error: Exception | None) -> None:
        self._server.open -= 1
        self._server.closed.set()


class Names(AbstractResolver):
    """Every name has these addresses."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        return list(self._results(host, port))

    def _results(self, host: str, port: int) -> Iterator[ResolveResult]:
        import socket

        for address in self._addresses:
            yield ResolveResult(
                hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0
            )

    async def close(self) -> None:
        """Nothing to close."""
