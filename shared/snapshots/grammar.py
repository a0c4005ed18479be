"""What an archive of code may be: one reading for those who show it and for the nodes that run it.

Each node gets this text, so it is for any Python from 3.6 on, and stands alone. An archive is hostile. What
two readers could take for different members is refused, rather than read in one of the ways.
"""

import zlib
from typing import BinaryIO, Dict, Iterator, NamedTuple, NoReturn, Optional, Set, Tuple

_BLOCK, _PIECE = 512, 1 << 16
#: The most bytes of a name: that of Linux. Of an entry of names before a member, and of zeros at the end.
_NAME, _LONG, _ZEROS = 4095, 1 << 16, 1 << 21
_DIGITS = 30
#: What becomes of bytes that are not UTF-8.
OTHERS = "surrogateescape"
_FILE, _OLD_FILE, _LINK, _FOLDER = b"0", b"\0", b"2", b"5"
#: What GNU tar, POSIX, and `git archive` write before a member; the last one says nothing but a comment.
_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL = b"L", b"K", b"x", b"g"
#: What a POSIX header may say of a member, and what makes no difference here.
_KEYS = ("path", "linkpath", "size")
_UNUSED = ("mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment", "hdrcharset")
_EXTRAS = ("LIBARCHIVE.", "SCHILY.xattr.")


class Unreadable(Exception):
    """An archive that is broken, or is not one of a folder, and why."""


class OverLimit(Unreadable):
    """More bytes than are unpacked."""


class Entry(NamedTuple):
    """A member: the name of a folder ends with a slash, and `link` is what a link leads to.

    Bytes that are not UTF-8 are in them as `surrogateescape` has them, so that no two names become one.
    """

    name: str
    size: int = 0
    executable: bool = False
    link: str = ""


def members(archive: BinaryIO, limit: int) -> Iterator[Tuple[Entry, Iterator[bytes]]]:
    """Each member with its bytes, which are there until the next one is asked for. Raises Unreadable.

    `limit`: the most bytes that are unpacked; more are Unreadable, too.
    """
    stream = _Unzipped(archive, limit)
    names: Set[str] = set()
    while True:
        entry = _entry(stream)
        if entry is None:
            break
        name = "/".join(part for part in entry.name.split("/") if part not in ("", "."))
        if name in names:
            _refuse("a name is in it twice")
        names.add(name)
        data = stream.chunks(entry.size)
        yield entry, data
        for _ in data:  # what the caller did not read
            pass
        stream.read(-entry.size % _BLOCK)
    stream.end()


class _Unzipped:
    """The bytes of a tar, compressed or not, as far as a limit."""

    def __init__(self, archive: BinaryIO, limit: int) -> None:
        self._parts, self._ready, self._remaining = _parts_of(archive), b"", limit

    def read(self, size: int) -> bytes:
        """Exactly so many bytes, which are few."""
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[bytes]:
        """So many bytes, piece by piece. Raises Unreadable at the end of the archive."""
        while size:
            if not self._ready and not self._more():
                _refuse("it ends too early")
            part, self._ready = self._ready[:size], self._ready[size:]
            size -= len(part)
            yield part

    def end(self) -> None:
        """Read what follows the first block of zeros: another one, and nothing but zeros."""
        zeros = self.read(_BLOCK)
        size = 0
        while not zeros.strip(b"\0") and size <= _ZEROS:
            size += len(self._ready)
            zeros, self._ready = self._ready, b""
            if not zeros and not self._more():
                return
        _refuse("something follows its end")

    def _more(self) -> bool:
        self._ready = next(self._parts, b"")
        self._remaining -= len(self._ready)
        if self._remaining < 0:
            raise OverLimit("it unpacks to more bytes than are read")
        return bool(self._ready)


def _parts_of(archive: BinaryIO) -> Iterator[bytes]:
    """The tar, piece by piece."""
    packed = archive.read(_PIECE)
    if packed[:2] != b"\x1f\x8b":
        while packed:
            yield packed
            packed = archive.read(_PIECE)
        return
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    while not unzip.eof:
        try:
            part = unzip.decompress(packed, _PIECE)
        except zlib.error as error:
            _refuse(f"it cannot be unpacked: {error}")
        if part:
            yield part
        elif not packed:
            _refuse("it ends too early")
        packed = unzip.unconsumed_tail or (b"" if unzip.eof else archive.read(_PIECE))
    if unzip.unused_data or archive.read(1):
        _refuse("something follows its end")


def _entry(stream: _Unzipped) -> Optional[Entry]:
    """The next member; None at the end of the archive."""
    values: Dict[str, str] = {}
    heads: Set[bytes] = set()
    while True:
        header = stream.read(_BLOCK)
        if not header.strip(b"\0"):
            return _refuse("a header in it is of no member") if heads else None
        _check(header)
        size, kind = _number(header[124:136]), header[156:157]
        if kind not in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL):
            return _member(header, size, kind, values)
        if size > _LONG:
            _refuse("a name in it is too long")
        text = stream.read(size)
        stream.read(-size % _BLOCK)
        news = _values(kind, text)
        if kind in heads or not values.keys().isdisjoint(news):
            _refuse("a member of it has two headers that say the same")
        heads.add(kind)
        values.update(news)


def _values(kind: bytes, text: bytes) -> Dict[str, str]:
    """What an entry before a member says of it."""
    if kind in (_LONG_NAME, _LONG_LINK):
        if text[-1:] != b"\0" or b"\0" in text.rstrip(b"\0"):
            _refuse("a long name in it does not end with its entry")
        return {"path" if kind == _LONG_NAME else "linkpath": _text(text)}
    records = _records(text)
    if kind == _PAX_GLOBAL and records.keys() - {"comment"}:
        _refuse("a header in it is for all members")
    for name in records:
        if name not in (*_KEYS, *_UNUSED) and not name.startswith(_EXTRAS):
            _refuse("a header in it says what only some programs know")
    return {name: records[name] for name in _KEYS if name in records}


def _member(header: bytes, size: int, kind: bytes, values: Dict[str, str]) -> Entry:
    name, link = _text(header[:100]), _text(header[157:257])
    above = _text(header[345:500])
    if header[257:263] == b"ustar\0":
        name = f"{above}/{name}" if above else name
    elif header[345:500].strip(b"\0"):
        _refuse("a header in it is of no known format")
    name, link = values.get("path", name), values.get("linkpath", link)
    if max(len(one.encode("utf-8", OTHERS)) for one in (name, link)) > _NAME:
        _refuse("a name in it is too long")
    if not name or "\0" in name + link:
        _refuse("a name in it is none")
    digits = values.get("size", str(size))
    if len(digits) > _DIGITS or digits.strip("0123456789") or not digits:
        _refuse("a size in it is not a number")
    if kind == _FOLDER and not int(digits):
        return Entry(f"{name.rstrip('/')}/")
    if kind not in (_FILE, _OLD_FILE, _LINK, _FOLDER):
        _refuse("it has something other than files, folders and links to them")
    if kind == _OLD_FILE and _text(header[:100]).endswith("/"):  # for some a folder, with any longer name
        _refuse("it has a folder of the oldest format")
    if kind == _FOLDER or name.rpartition("/")[2] in ("", "."):
        _refuse("it has a folder with bytes, or a file whose name is that of a folder")
    if kind == _LINK:
        if int(digits) or not link:
            _refuse("a link in it has bytes, or leads nowhere")
        return Entry(name, link=link)
    return Entry(name, int(digits), bool(_number(header[100:108]) & 0o100))


def _records(text: bytes) -> Dict[str, str]:
    """What a POSIX header says: records, each `LENGTH NAME=VALUE` and a line end, none of them twice."""
    records: Dict[str, str] = {}
    while text:
        length, _, _ = text[:20].partition(b" ")
        end = int(length) if length.isdigit() else 0
        if not len(length) + 3 <= end <= len(text) or text[end - 1 : end] != b"\n":
            _refuse("a header in it is broken")
        name, _, value = text[len(length) + 1 : end - 1].decode("utf-8", OTHERS).partition("=")
        if name in records:
            _refuse("a member of it has two headers that say the same")
        records[name] = value
        text = text[end:]
    return records


def _check(header: bytes) -> None:
    """Raise Unreadable unless it is a header, by its checksum."""
    written = header[148:156].strip(b" \0")
    whole = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    if not written or written.strip(b"01234567") or int(written, 8) != whole:
        _refuse("it is not a tar archive")


def _number(field: bytes) -> int:
    if field[:1] == b"\x80":  # GNU tar writes a size from 8 GiB on so
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0") or b"0"
    if digits.translate(None, b"01234567"):
        _refuse("a number in it is broken")
    return int(digits, 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", OTHERS)


def _refuse(reason: str) -> NoReturn:
    raise Unreadable(reason)
