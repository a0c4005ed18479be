"""Reads an archive as data: names, sizes, and the text of one file. Nothing in it is trusted.

An archive is what a client sent, so it may be anything: a bomb, a chain of headers, no archive at all. It is
read once, forwards, within bounds, and nothing of it is written anywhere here.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, NoReturn

from shared.snapshots.pack import ENTRIES, MIB

#: The most bytes of an archive that are unpacked to show it, and of a file that is shown.
SHOWN, TEXT = 32 * MIB, 1 << 16
#: The most bytes of the names that a listing has, as JSON writes them, and of one name: that of Linux.
NAMES, NAME = 4 * MIB, 4095
_BLOCK, _CHUNK = 512, 1 << 16
#: The most bytes of a name that stands in an entry of its own, and of such entries before a member.
_LONG, _HEADS = 1 << 16, 4
_DIGITS = 30
#: What becomes of bytes that are not UTF-8.
_OTHERS = "surrogateescape"
_GZIP = b"\x1f\x8b"
_FILES, _LINK, _FOLDER = b"0\0", b"2", b"5"
#: What GNU tar and POSIX write before a member whose name is long.
_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL = b"L", b"K", b"x", b"g"


class Unreadable(Exception):
    """An archive that is broken, or is not one of a folder, and why."""


class Entry(NamedTuple):
    """A member: the name of a folder ends with a slash, and `link` is what a link leads to.

    Bytes that are not UTF-8 are in them as `surrogateescape` has them, so that no two names become one.
    """

    name: str
    size: int = 0
    executable: bool = False
    link: str = ""


class Listing(NamedTuple):
    """The members in their order, and whether others follow, which the bounds leave out."""

    entries: tuple[Entry, ...]
    more: bool


def listing(archive: BinaryIO, limit: int = SHOWN, entries: int = ENTRIES) -> Listing:
    """The members of an archive. Raises Unreadable."""
    listed, names = list[Entry](), 0
    try:
        for entry, _ in members(archive, limit):
            names += len(json.dumps((entry.name, entry.link)))
            if len(listed) == entries or names > NAMES:
                return Listing(tuple(listed), True)
            listed.append(entry)
    except _OverLimit:
        return Listing(tuple(listed), True)
    return Listing(tuple(listed), False)


def content(archive: BinaryIO, name: str, limit: int = SHOWN, size: int = TEXT) -> bytes | None:
    """The first bytes of a file, as many as `size`; None if there is none of that name. Raises Unreadable."""
    try:
        for entry, data in members(archive, limit):
            if entry.name == name and not entry.link:
                return b"".join(data)[:size] if entry.size <= size else _begin(data, size)
    except _OverLimit:
        pass
    return None


def members(archive: BinaryIO, limit: int) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Each member with its bytes, which are there until the next one is asked for. Raises Unreadable.

    `limit`: the most bytes that are unpacked; more are Unreadable, too.
    """
    stream = _Unpacked(archive, limit)
    while entry := _entry(stream):
        data = stream.chunks(entry.size)
        yield entry, data
        for _ in data:  # what the caller did not read
            pass
        stream.read(-entry.size % _BLOCK)


class _OverLimit(Unreadable):
    """More bytes than are unpacked."""

    def __init__(self) -> None:
        super().__init__("it unpacks to more bytes than are read")


class _Unpacked:
    """The bytes of a tar, compressed or not, as far as a limit."""

    def __init__(self, archive: BinaryIO, limit: int) -> None:
        self._parts, self._ready, self._remaining = _parts(archive), b"", limit

    def read(self, size: int) -> bytes:
        """Exactly so many bytes, which are few."""
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[bytes]:
        """So many bytes, piece by piece. Raises Unreadable at the end of the archive."""
        while size:
            if not self._ready:
                self._ready = next(self._parts, b"")
                self._remaining -= len(self._ready)
                if not self._ready:
                    _refuse("it ends in the middle of a member")
                if self._remaining < 0:
                    raise _OverLimit
            part, self._ready = self._ready[:size], self._ready[size:]
            size -= len(part)
            yield part


def _parts(archive: BinaryIO) -> Iterator[bytes]:
    """The tar, piece by piece."""
    packed = archive.read(_CHUNK)
    if packed[:2] != _GZIP:
        while packed:
            yield packed
            packed = archive.read(_CHUNK)
        return
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while not unzip.eof:
        try:
            part = unzip.decompress(packed, _CHUNK)
        except zlib.error as error:
            _refuse(f"it cannot be unpacked: {error}")
        packed = unzip.unconsumed_tail or archive.read(_CHUNK)
        if part:
            yield part
        elif not packed:
            return


def _entry(stream: _Unpacked) -> Entry | None:
    """The next member; None at the end of the archive."""
    long = dict[str, str]()
    for _ in range(_HEADS):
        header = stream.read(_BLOCK)
        if not header.strip(b"\0"):
            return None
        _check(header)
        size, kind = _number(header[124:136]), header[156:157]
        if kind not in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL):
            return _member(header, size, kind, long)
        if size > _LONG:
            _refuse("a name in it is too long")
        text = stream.read(size)
        stream.read(-size % _BLOCK)
        if kind in (_LONG_NAME, _LONG_LINK):
            long["path" if kind == _LONG_NAME else "linkpath"] = _text(text)
        elif kind == _PAX:
            long |= _records(text)
    raise Unreadable("a member of it has too many headers")


def _member(header: bytes, size: int, kind: bytes, long: dict[str, str]) -> Entry:
    name, link = _text(header[:100]), _text(header[157:257])
    if header[257:263] == b"ustar\0" and (above := _text(header[345:500])):
        name = f"{above}/{name}"
    name, link = long.get("path", name), long.get("linkpath", link)
    if max(len(one.encode("utf-8", _OTHERS)) for one in (name, link)) > NAME:
        _refuse("a name in it is too long")
    if kind == _FOLDER:
        return Entry(f"{name.rstrip('/')}/")
    if kind == _LINK:
        return Entry(name, link=link or _refuse("a link in it leads nowhere"))
    if kind not in _FILES:
        _refuse("it has something other than files, folders and links to them")
    digits = long.get("size", str(size))
    if len(digits) > _DIGITS or not digits.isascii() or not digits.isdigit():
        _refuse("a size in it is not a number")
    return Entry(name, int(digits), bool(_number(header[100:108]) & 0o100))


def _records(text: bytes) -> dict[str, str]:
    """The names and the size that a POSIX header gives, each `LENGTH NAME=VALUE` and a line end."""
    records = dict[str, str]()
    while text:
        length, _, _ = text[:20].partition(b" ")
        if not length.isdigit() or not len(length) + 3 <= (end := int(length)) <= len(text):
            _refuse("a header in it is broken")
        name, _, value = text[len(length) + 1 : end - 1].partition(b"=")
        if name in (b"path", b"linkpath", b"size"):
            records[name.decode()] = value.decode("utf-8", _OTHERS)
        text = text[end:]
    return records


def _check(header: bytes) -> None:
    """Raise Unreadable unless it is a header, by its checksum."""
    written = header[148:156].strip(b" \0")
    whole = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    if not written or written.translate(None, b"01234567") or int(written, 8) != whole:
        _refuse("it is not a tar archive")


def _number(field: bytes) -> int:
    if field[:1] == b"\x80":  # GNU tar writes a size from 8 GiB on so
        return int.from_bytes(field[1:])
    digits = field.strip(b" \0") or b"0"
    if digits.translate(None, b"01234567"):
        _refuse("a number in it is broken")
    return int(digits, 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", _OTHERS)


def is_text(name: str) -> bool:
    """Whether a name is UTF-8."""
    return name.encode("utf-8", _OTHERS) == name.encode("utf-8", "replace")


def as_text(name: str) -> str:
    """The name as text: of one that is not UTF-8, other bytes are `\\xff`, and a backslash is doubled."""
    if is_text(name):
        return name
    return name.replace("\\", "\\\\").encode("utf-8", _OTHERS).decode("utf-8", "backslashreplace")


def _begin(data: Iterator[bytes], size: int) -> bytes:
    begin = b""
    while len(begin) < size:
        begin += next(data)
    return begin[:size]


def _refuse(reason: str) -> NoReturn:
    raise Unreadable(reason)
