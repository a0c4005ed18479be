"""A round trip: `python -m bench.proxy MILLISECONDS PORT…` puts a proxy before each port.

Half of the time is spent in each direction. Nagle and delayed acknowledgements are off: they add 40 ms.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import deque

from local.stop import stop_event


class _Pipe(asyncio.Protocol):
    """One end; what it reads is written to the other one `delay` seconds later, in order."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._loop = asyncio.get_running_loop()
        self._later: deque[bytes] = deque()
        self._transport: asyncio.Transport | None = None
        self.other: _Pipe | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        self._queue(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._queue(b"")

    def write(self, data: bytes) -> None:
        """Write, or close after everything that was written before."""
        assert self._transport is not None
        if data:
            self._transport.write(data)
        else:
            self._transport.close()

    def _queue(self, data: bytes) -> None:
        self._later.append(data)
        self._loop.call_later(self._delay, self._next)

    def _next(self) -> None:
        # Timers that are due together fire in any order; the queue keeps the bytes in theirs.
        if self.other is not None:
            self.other.write(self._later.popleft())


class _Front(_Pipe):
    """The client's end; reads nothing until there is a connection behind it."""

    def __init__(self, delay: float, port: int) -> None:
        super().__init__(delay)
        self._port = port
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self._transport is not None
        self._transport.pause_reading()
        self._opening = self._loop.create_task(self._open())

    async def _open(self) -> None:
        assert self._transport is not None
        try:
            _, behind = await self._loop.create_connection(
                lambda: _Pipe(self._delay), "127.0.0.1", self._port
            )
        except OSError:
            self._transport.abort()
            return
        self.other, behind.other = behind, self
        self._transport.resume_reading()


async def main(milliseconds: float, ports: list[int]) -> None:
    """Pass connections on, each byte late by half the round trip, until stopped."""
    stop = stop_event(until_stdin_closes=True)
    loop = asyncio.get_running_loop()
    servers = [
        await loop.create_server(lambda port=port: _Front(milliseconds / 2000, port), "127.0.0.1", 0)  # type: ignore[misc]
        for port in ports
    ]
    sys.stdout.write(f"ready {' '.join(str(s.sockets[0].getsockname()[1]) for s in servers)}\n")
    sys.stdout.flush()
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), [int(port) for port in sys.argv[2:]]))
