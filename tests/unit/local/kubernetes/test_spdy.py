"""Streams over one connection, as kubectl opens them."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from local.kubernetes.kubelet.spdy import Session, Stream
from local.kubernetes.kubelet.spdy_words import WORDS
from tests.unit.local.kubernetes.spdy_client import Frames, data, read


class Pipe:
    """A carrier whose other end is the test."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.outgoing = bytearray()
        self.has_sent = asyncio.Event()

    async def receive(self) -> bytes:
        return await self.incoming.get()

    async def send(self, data: bytes) -> None:
        self.outgoing += data
        self.has_sent.set()


class Client:
    """The end of a person, frame by frame."""

    def __init__(self) -> None:
        self.pipe = Pipe()
        self.streams: asyncio.Queue[Stream] = asyncio.Queue()
        self.opens = Frames().opens

    def sends(self, *frames: bytes) -> None:
        self.pipe.incoming.put_nowait(b"".join(frames))

    def frames(self) -> list[tuple[int, bytes]]:
        return list(read(bytes(self.pipe.outgoing)))


@asynccontextmanager
async def _session() -> AsyncIterator[Client]:
    client = Client()
    running = asyncio.create_task(Session(client.pipe).run(client.streams.put_nowait))
    yield client
    client.sends(b"")
    await running


def test_the_words_are_those_of_the_draft() -> None:
    assert (len(WORDS), zlib.adler32(WORDS)) == (1423, 0xE3C6A7C2)


async def test_a_stream_has_headers_data_and_an_end() -> None:
    async with _session() as client:
        client.sends(
            client.opens(1, {"streamType": "data", "port": "80"}), data(1, b"he"), data(1, b"llo", 1)
        )
        stream = await client.streams.get()

        assert stream.headers == {"streamtype": "data", "port": "80"}
        assert await stream.reader.read() == b"hello"
        await stream.write(b"answer")
        await stream.close()
        await stream.close()
        assert [frame for frame in client.frames() if frame[0] > 0] == [(1, b"answer"), (1, b"")]


async def test_frames_may_come_in_any_pieces() -> None:
    async with _session() as client:
        for byte in (
            client.opens(1, {"a": "1"}) + data(1, b"one") + client.opens(3, {"b": "2"}) + data(1, b"", 1)
        ):
            client.sends(bytes([byte]))
        first, second = await client.streams.get(), await client.streams.get()

        assert await first.reader.read() == b"one"
        assert second.headers == {"b": "2"}


async def test_a_ping_is_answered() -> None:
    async with _session() as client:
        client.sends(struct.pack(">HHII", 0x8003, 6, 4, 77))
        await client.pipe.has_sent.wait()

        assert client.frames() == [(-6, struct.pack(">I", 77))]


async def test_a_stream_that_is_reset_is_at_its_end() -> None:
    async with _session() as client:
        client.sends(client.opens(1, {}), struct.pack(">HHIII", 0x8003, 3, 8, 1, 5), data(1, b"late"))
        stream = await client.streams.get()

        assert await stream.reader.read() == b""


async def test_who_does_not_read_holds_the_session_until_it_leaves() -> None:
    async with _session() as client:
        part = data(1, bytes(1 << 16))
        client.sends(client.opens(1, {}), *[part] * 4, client.opens(3, {}), data(3, b"x", 1))
        first = await client.streams.get()
        for _ in range(50):
            await asyncio.sleep(0)
        assert client.streams.empty()

        first.leave()
        second = await client.streams.get()
        assert await second.reader.read() == b"x"


async def test_all_streams_end_with_the_connection() -> None:
    async with _session() as client:
        client.sends(client.opens(1, {}))
        stream = await client.streams.get()

    assert await stream.reader.read() == b""


async def test_much_data_goes_in_several_frames() -> None:
    async with _session() as client:
        client.sends(client.opens(1, {}))
        stream = await client.streams.get()

        await stream.write(bytes(100_000))

        sizes = [len(body) for first, body in client.frames() if first == 1]
        assert sum(sizes) == 100_000
        assert max(sizes) <= 1 << 15
