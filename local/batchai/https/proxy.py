"""A proxy for https on this machine: the storage account's names in Azure lead to the services here.

Clients that are given an account and its key make up the address, https://ACCOUNT.blob.core.windows.net. Here
a CONNECT to such a name ends in TLS with the emulator's certificate and goes on to the service. No other
address is reached through the proxy.
"""

import asyncio
import contextlib
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

_HOST = "127.0.0.1"
_SUFFIX = ".core.windows.net"
_LARGEST_HEAD = 64 << 10
#: Seconds within which a client has to send its request.
_PATIENCE = 30.0
_CONNECT = re.compile(rb"CONNECT ([A-Za-z0-9.-]+):443 HTTP/1\.[01]\r\n")
_OF_THE_HOP = re.compile(rb"\r\n(?:Host|Connection):[^\r\n]*", re.IGNORECASE)

Address = tuple[str, int]
Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class StorageProxy:
    """`services` are those of an account: where each listens, which is spoken to without TLS."""

    def __init__(self, account: str, services: Mapping[str, Address]) -> None:
        self._account = account
        self._services = {f"{account}.{service}{_SUFFIX}": at for service, at in services.items()}
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.Task[None]] = set()
        #: Where TLS ends, by name.
        self._inner: dict[str, Address] = {}

    @property
    def names(self) -> list[str]:
        """The names in Azure that are reached here."""
        return list(self._services)

    async def start(self, context: ssl.SSLContext, port: int) -> int:
        """Listen on a port, on any when it is taken; the port."""
        for name, service in self._services.items():
            server = await self._serve(partial(self._hand_on, name, service), 0, context)
            self._inner[name] = server.sockets[0].getsockname()
        try:
            outer = await self._serve(self._connect, port)
        except OSError:
            outer = await self._serve(self._connect, 0)
        return int(outer.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """End the server and every connection through it."""
        for server in self._servers:
            server.close()
        for connection in self._connections:
            connection.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _serve(
        self, handle: Handle, port: int, context: ssl.SSLContext | None = None
    ) -> asyncio.Server:
        async def serve_tracked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if task := asyncio.current_task():  # a server runs each connection in one
                self._connections.add(task)
                task.add_done_callback(self._connections.discard)
            # When a client or a service breaks off, there is no other end to report it to.
            with contextlib.suppress(OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
                await handle(reader, writer)
            writer.close()

        server = await asyncio.start_server(serve_tracked, _HOST, port, ssl=context, limit=_LARGEST_HEAD)
        self._servers.append(server)
        return server

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match = _CONNECT.match(await _head(reader))
        inner = self._inner.get(match[1].decode().lower()) if match else None
        if inner is None:
            why = f"only {self._account}.*{_SUFFIX} is served here; for other addresses unset HTTPS_PROXY"
            writer.write(f"HTTP/1.1 403 {why}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await _join(reader, writer, inner)

    async def _hand_on(
        self, name: str, service: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One request a connection: its Host becomes a name that the services know as this machine's."""
        head = _OF_THE_HOP.sub(b"", await _head(reader))
        local = f"{name.removesuffix(_SUFFIX)}.localhost"
        head = head[:-2] + f"Host: {local}\r\nConnection: close\r\n\r\n".encode()
        await _join(reader, writer, service, head)


async def _head(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(_PATIENCE):
        return await reader.readuntil(b"\r\n\r\n")


async def _join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: Address, first: bytes = b""
) -> None:
    """Pass bytes in both directions until one of them ends."""
    far_reader, far_writer = await asyncio.open_connection(*address)
    far_writer.write(first)
    both = [
        asyncio.create_task(_pump(reader, far_writer)),
        asyncio.create_task(_pump(far_reader, writer)),
    ]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in both:
            one.cancel()
        far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()
