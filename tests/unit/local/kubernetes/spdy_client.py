"""A client's end of SPDY/3, frame by frame."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping

from local.kubernetes.kubelet.spdy_words import WORDS


class Frames:
    """The frames of one client, whose headers it compresses one after the other."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(zdict=WORDS)

    def opens(self, number: int, headers: Mapping[str, str], flags: int = 0) -> bytes:
        """The frame that opens a stream."""
        block = struct.pack(">I", len(headers))
        for text in (text for pair in headers.items() for text in pair):
            block += struct.pack(">I", len(text)) + text.encode()
        packed = self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        body = struct.pack(">IIH", number, 0, 0) + packed
        return struct.pack(">HHI", 0x8003, 1, flags << 24 | len(body)) + body


def data(number: int, text: bytes, flags: int = 0) -> bytes:
    """A frame of data; with the flag 1 the last of its stream."""
    return struct.pack(">II", number, flags << 24 | len(text)) + text


def read(frames: bytes) -> Iterator[tuple[int, bytes]]:
    """What a node has sent: the stream of each frame of data, or the kind below zero, and the body."""
    while frames:
        first, second = struct.unpack_from(">II", frames)
        end = 8 + (second & 0xFFFFFF)
        yield (first if first < 1 << 31 else -(first & 0xFFFF)), frames[8:end]
        frames = frames[end:]
