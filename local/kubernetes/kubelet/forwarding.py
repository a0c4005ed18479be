"""Connections of a client to ports of a pod: for each a stream of data, and one that says why it failed."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from local.kubernetes.kubelet.carriers import CHUNK, Carrier
from local.kubernetes.kubelet.spdy import Session, Stream


class Forwarding:
    """Those of one session."""

    def __init__(self, pod: str, address: str) -> None:
        self._pod = pod
        self._address = address
        #: by the number of the connection, of the kind that came first
        self._halves: dict[str, Stream] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, carrier: Carrier) -> None:
        """Connect what the client asks for, until it goes."""
        try:
            await Session(carrier).run(self._take)
        finally:
            for connection in self._connections:
                connection.cancel()

    def _take(self, stream: Stream) -> None:
        number = stream.headers.get("requestid", "")
        other = self._halves.pop(number, None)
        if other is None:
            self._halves[number] = stream
            return
        data, error = (stream, other) if stream.headers.get("streamtype") == "data" else (other, stream)
        task = asyncio.create_task(self._connect(data, error))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _connect(self, data: Stream, error: Stream) -> None:
        port = data.headers.get("port", "")
        with suppress(ConnectionError):
            try:
                reader, writer = await asyncio.open_connection(self._address, int(port))
            except (OSError, ValueError, OverflowError) as failure:
                text = f"error forwarding port {port} to pod {self._pod}: {failure}"
                await error.write(text.encode())
            else:
                await _join(data, reader, writer)
            data.leave()
            await data.close()
            await error.close()


async def _join(data: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry both directions until the port writes no more."""
    upward = asyncio.create_task(_feed(data, writer))
    try:
        with suppress(ConnectionError):
            while text := await reader.read(CHUNK):
                await data.write(text)
    finally:
        upward.cancel()
        writer.close()


async def _feed(data: Stream, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while text := await data.reader.read(CHUNK):
            writer.write(text)
            await writer.drain()
        writer.write_eof()
