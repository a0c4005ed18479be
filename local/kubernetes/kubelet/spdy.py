"""SPDY/3.1 as Kubernetes speaks it: the client opens streams, and windows do not count.

A session of several streams over one carrier, each with headers, and with an end in either direction.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

from local.kubernetes.kubelet.carriers import Carrier
from local.kubernetes.kubelet.spdy_words import WORDS

_VERSION = 0x8003
_SYN_STREAM, _SYN_REPLY, _RESET, _PING = 1, 2, 3, 6
_END = 1
_CANCEL = 5
_HEAD = 8
#: The headers of a stream begin behind the numbers of two streams, its priority and its slot.
_BEFORE_HEADERS = 10
#: Bytes of one frame of data, far below what its length may say.
_LARGEST = 1 << 15


class Gate(asyncio.Transport):
    """A reader, and a gate that is closed while it holds more than it can use."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = asyncio.StreamReader()
        self.reader.set_transport(self)
        self._open = asyncio.Event()
        self._open.set()

    def pause_reading(self) -> None:
        """Close it."""
        self._open.clear()

    def resume_reading(self) -> None:
        """Open it."""
        self._open.set()

    async def passed(self) -> None:
        """Wait while it is closed."""
        await self._open.wait()


class Stream:
    """One stream that the client opened."""

    def __init__(self, session: Session, number: int, headers: Mapping[str, str]) -> None:
        self._session = session
        self._number = number
        self.headers = headers
        self.gate = Gate()
        #: what the client writes
        self.reader = self.gate.reader
        self._is_closed = False

    async def write(self, data: bytes) -> None:
        """Write to the client. Raises ConnectionError."""
        for start in range(0, len(data), _LARGEST):
            await self._session.send_data(self._number, data[start : start + _LARGEST], flags=0)

    async def close(self) -> None:
        """End what is written; the client may write on. Raises ConnectionError."""
        if not self._is_closed:
            self._is_closed = True
            await self._session.send_data(self._number, b"", flags=_END)

    def leave(self) -> None:
        """Read no more of it: what comes is thrown away."""
        self._session.forget(self._number)
        self.gate.resume_reading()


class Session:
    """The node's end of one connection."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._streams: dict[int, Stream] = {}
        self._inflate = zlib.decompressobj(zdict=WORDS)
        self._deflate = zlib.compressobj(zdict=WORDS)
        self._sending = asyncio.Lock()

    async def run(self, opened: Callable[[Stream], None]) -> None:
        """Read until the other end is gone; `opened` hears of each stream."""
        try:
            with suppress(ConnectionError):
                async for head, body in self._frames():
                    await self._take(head, body, opened)
        finally:
            for stream in self._streams.values():
                stream.reader.feed_eof()

    def forget(self, number: int) -> None:
        """Throw away what comes for a stream."""
        self._streams.pop(number, None)

    async def send_data(self, number: int, data: bytes, flags: int) -> None:
        """Send a frame of data. Raises ConnectionError."""
        await self._send(struct.pack(">II", number, flags << 24 | len(data)) + data)

    async def _send(self, frame: bytes) -> None:
        async with self._sending:
            await self._carrier.send(frame)

    async def _frames(self) -> AsyncIterator[tuple[bytes, bytes]]:
        """The heads and bodies of frames, until the carrier ends."""
        held = bytearray()
        while data := await self._carrier.receive():
            held += data
            while len(held) >= _HEAD:
                end = _HEAD + (int.from_bytes(held[4:_HEAD]) & 0xFFFFFF)
                if len(held) < end:
                    break
                yield bytes(held[:_HEAD]), bytes(held[_HEAD:end])
                del held[:end]

    async def _take(self, head: bytes, body: bytes, opened: Callable[[Stream], None]) -> None:
        first, second = struct.unpack(">II", head)
        if not first >> 31:
            await self._take_data(first, body, is_last=bool(second >> 24 & _END))
            return
        kind = first & 0xFFFF
        if kind == _SYN_STREAM:
            number = int.from_bytes(body[:4]) & 0x7FFFFFFF
            headers = _unpacked(self._inflate.decompress(body[_BEFORE_HEADERS:]))
            stream = self._streams[number] = Stream(self, number, headers)
            reply = self._deflate.compress(struct.pack(">I", 0)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
            await self._send(_control(_SYN_REPLY, struct.pack(">I", number) + reply))
            opened(stream)
            await self._take_data(number, b"", is_last=bool(second >> 24 & _END))
        elif kind == _PING:
            await self._send(_control(_PING, body))
        elif kind == _RESET:
            await self._take_data(int.from_bytes(body[:4]) & 0x7FFFFFFF, b"", is_last=True)

    async def _take_data(self, number: int, data: bytes, *, is_last: bool) -> None:
        stream = self._streams.get(number)
        if stream is None:
            return
        if data:
            await stream.gate.passed()
            stream.reader.feed_data(data)
        if is_last:
            self.forget(number)
            stream.reader.feed_eof()


def _control(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHI", _VERSION, kind, len(body)) + body


def _unpacked(block: bytes) -> dict[str, str]:
    """The headers of a block, their names in lower case."""
    (count,) = struct.unpack_from(">I", block)
    at, texts = 4, list[str]()
    for _ in range(2 * count):
        (length,) = struct.unpack_from(">I", block, at)
        at += 4 + length
        texts.append(block[at - length : at].decode("latin-1"))
    return {name.lower(): value for name, value in zip(texts[::2], texts[1::2], strict=True)}
