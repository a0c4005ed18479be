"""Packs a folder: the same members make the same bytes, on any machine, in any order of its disk.

Members come sorted by the bytes of their paths, without owners and times. The format is GNU tar, which
every tar and the Python 3.6 of a node can read with any name.
"""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import BinaryIO, NamedTuple, cast

MIB = 1 << 20
#: The most bytes of an archive, and the most files, links and folders in one.
BYTES, ENTRIES = 256 * MIB, 20_000
#: The most bytes of an archive that comes through the app, which holds it in memory.
THROUGH_APP = 8 * MIB
#: The most bytes of all files together, as a node unpacks them.
UNPACKED = 4096 * MIB
#: The largest files, and their first bytes, that show whether a folder shrinks.
SAMPLES, SAMPLE = 16, 1 << 16
#: A folder that shrinks by less is not worth the time that compression takes.
_WORTHWHILE = 0.9


class Packed(NamedTuple):
    """What was written: the digest of exactly those bytes, their number, and the files and links in them."""

    sha256: str
    bytes: int
    files: int


class Unpackable(Exception):
    """A folder that cannot be packed, and why."""


class TooLarge(Unpackable):
    """The archive, or the number of its entries, exceeds a limit."""


class Changed(Unpackable):
    """A file does not have the size that it had before it was read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} changed while it was read")
        self.name = name


class Packer:
    """Writes one archive to `out`. The caller adds members in the order of `order`, and then finishes it."""

    def __init__(
        self, out: BinaryIO, *, compress: bool = True, limit: int = BYTES, entries: int = ENTRIES
    ) -> None:
        """`compress`: what `shrinks` says of the folder. `limit` and `entries` end it with TooLarge."""
        self._out = _Digesting(out, limit, compress=compress)
        out = cast(BinaryIO, self._out)
        self._tar = tarfile.TarFile(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8")
        self._last, self._remaining, self._files = b"", entries, 0

    def file(self, name: str, data: BinaryIO, size: int, *, executable: bool = False) -> None:
        """A regular file with these bytes. Raises Changed if there are fewer or more than `size`."""
        member = self._member(name)
        member.size, member.mode = size, 0o755 if executable else 0o644
        try:
            self._tar.addfile(member, whole := _Whole(data))  # type: ignore[arg-type]  # it only reads
        except OSError:
            if whole.ended:
                raise Changed(name) from None
            raise
        if data.read(1):
            raise Changed(name)
        self._files += 1

    def link(self, name: str, target: str) -> None:
        """A link to another member, relative to the folder of the link."""
        member = self._member(name)
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
        self._tar.addfile(member)
        self._files += 1

    def folder(self, name: str) -> None:
        """An empty folder; the others follow from the paths of their files."""
        member = self._member(name)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        self._tar.addfile(member)

    def finish(self) -> Packed:
        """Write the end of the archive."""
        self._tar.close()
        self._out.finish()
        return Packed(self._out.digest.hexdigest(), self._out.bytes, self._files)

    def _member(self, name: str) -> tarfile.TarInfo:
        """An entry of that name without size, owner and time."""
        if (key := order(name)) <= self._last:
            raise ValueError(f"{name!r} is not after the member before it")
        self._last, self._remaining = key, self._remaining - 1
        if self._remaining < 0:
            raise TooLarge("the folder has too many files")
        return tarfile.TarInfo(name)


class _Digesting:
    """A file that is only written: it compresses, counts and digests the bytes on their way."""

    def __init__(self, out: BinaryIO, limit: int, *, compress: bool) -> None:
        self._out, self._limit, self._read = out, limit, 0
        self._zip = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16) if compress else None
        self.digest, self.bytes = hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self._read += len(data)
        self._write(self._zip.compress(data) if self._zip else data)
        return len(data)

    def finish(self) -> None:
        self._write(self._zip.flush() if self._zip else b"")

    def tell(self) -> int:
        return self._read

    def _write(self, data: bytes) -> None:
        self.bytes += len(data)
        if self.bytes > self._limit:
            raise TooLarge("the archive has too many bytes")
        self.digest.update(data)
        self._out.write(data)


class _Whole:
    """A file that is only read: it notes that it ended before it should."""

    def __init__(self, data: BinaryIO) -> None:
        self._data, self.ended = data, False

    def read(self, size: int) -> bytes:
        data = self._data.read(size)
        self.ended = len(data) < size
        return data


def order(name: str) -> bytes:
    """The key by which members are sorted."""
    return name.encode()


def shrinks(samples: Iterable[tuple[int, bytes]]) -> bool:
    """Whether compression is worth its time, by the sizes and the first bytes of a folder's largest files.

    Of little it always is, since an archive has room between its members.
    """
    before = after = 0.0
    for size, begin in samples:
        before += size
        after += size * len(zlib.compress(begin, 1)) / len(begin) if begin else 0
    return after <= _WORTHWHILE * before or before < MIB


class Archive(NamedTuple):
    """A whole archive, and what it is."""

    data: bytes
    packed: Packed


def packed_whole(contents: Mapping[str, bytes]) -> Archive:
    """The archive of files in memory, in their order, each of which may be executed."""
    largest = sorted(contents.values(), key=len, reverse=True)[:SAMPLES]
    out = BytesIO()
    packer = Packer(out, compress=shrinks((len(data), data[:SAMPLE]) for data in largest))
    for name, data in contents.items():
        packer.file(name, BytesIO(data), len(data), executable=True)
    packed = packer.finish()
    return Archive(out.getvalue(), packed)
