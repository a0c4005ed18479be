"""Archives of code made byte by byte: those that all who read code refuse, and those that all read alike."""

from __future__ import annotations

import gzip
import tarfile

from tests.doubles.archives import FOLDER, Entry, file, folder, link, packed, tar

END = bytes(1024)
USTAR, GNU = b"ustar\x0000", b"ustar  \0"
_PROGRAM, _OTHER = b"print('this')\n", b"print('that')\n"


def head(
    name: bytes,
    size: int = 0,
    kind: bytes = b"0",
    *,
    target: bytes = b"",
    magic: bytes = USTAR,
    above: bytes = b"",
) -> bytes:
    """The header of one member. `above`: the field for the beginning of a long name."""
    numbers = b"%07o\0%07o\0%07o\0%011o\0%011o\0" % (0o644, 0, 0, size, 0)
    fields = name.ljust(100, b"\0") + numbers + b" " * 8 + kind + target.ljust(100, b"\0") + magic
    return summed(fields.ljust(345, b"\0") + above.ljust(167, b"\0"))


def summed(header: bytes) -> bytes:
    """The same header with its checksum."""
    number = sum(header[:148]) + 8 * ord(" ") + sum(header[156:])
    return header[:148] + b"%06o\0 " % number + header[156:]


def raw(
    name: bytes, data: bytes = b"", kind: bytes = b"0", *, magic: bytes = USTAR, above: bytes = b""
) -> bytes:
    """A member with its bytes."""
    return head(name, len(data), kind, magic=magic, above=above) + data + bytes(-len(data) % 512)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    """A POSIX header for the member after it."""
    text = b""
    for name, value in records:
        size = len(name) + len(value) + 3
        text += b"%d %s=%s\n" % (size + len(str(size + len(str(size)))), name, value)
    return raw(b"x", text, kind)


def long(name: bytes, kind: bytes = b"L") -> bytes:
    """A long name, or target, as GNU tar writes it."""
    return raw(b"././@LongLink", name + b"\0", kind, magic=GNU)


#: The bytes of what must not have any. Read as a member, there is nothing else wrong in the archive.
_HIDDEN = raw(b"train.py", _OTHER)
_LAST = raw(b"train.py", _PROGRAM)
#: What two readers may take for different members, and what is broken. `slipway code` and nodes refuse it.
REFUSED: dict[str, bytes] = {
    "an old folder with bytes": head(b"docs/", len(_HIDDEN), b"\0") + _HIDDEN + END,
    "such a folder by a header": pax((b"path", b"d/")) + head(b"d", 1024, b"\0") + _HIDDEN + END,
    "an old folder with the name of a file": long(b"f") + raw(b"docs/", _HIDDEN, b"\0") + END,
    "a folder with bytes": head(b"docs", len(_HIDDEN), b"5") + _HIDDEN + END,
    "a folder with bytes by a header": pax((b"size", b"1024")) + head(b"d", 0, b"5") + _HIDDEN + END,
    "a link with bytes": head(b"a", 1024, b"2", target=b"b") + _HIDDEN + END,
    "a link with bytes by a header": pax((b"size", b"1024"))
    + head(b"a", 0, b"2", target=b"b")
    + _HIDDEN
    + END,
    "a file with the name of a folder": raw(b"train.py/", _PROGRAM) + END,
    "a file with the name of a folder and a dot": raw(b"train.py/.", _PROGRAM) + END,
    "a link with the name of a folder": head(b"a/", 0, b"2", target=b"b") + END,
    "a sparse name": _LAST + pax((b"GNU.sparse.name", b"train.py")) + raw(b"a", _OTHER) + END,
    "a sparse size": pax((b"GNU.sparse.size", b"3")) + _LAST + END,
    "a sparse real size": pax((b"GNU.sparse.realsize", b"0")) + raw(b"a", _HIDDEN) + END,
    "another real size": pax((b"SCHILY.realsize", b"0")) + raw(b"a", _HIDDEN) + END,
    "a name for all": pax((b"path", b"train.py"), kind=b"g") + raw(b"a", _OTHER) + END,
    "a size for all": pax((b"size", b"0"), kind=b"g") + raw(b"a", _HIDDEN) + END,
    "a beginning of a name in GNU's format": raw(b"train.py", _OTHER, magic=GNU, above=b"pkg") + END,
    "a beginning of a name in the oldest format": raw(b"train.py", _OTHER, magic=b"", above=b"pkg") + END,
    "a long name without its end": raw(b"L", b"abc", b"L") + raw(b"c") + END,
    "a long name that goes on after a zero": long(b"a\0b") + raw(b"c") + END,
    "two long names": long(b"a") + long(b"b") + raw(b"c") + END,
    "a long name before another": long(b"a") + pax((b"path", b"b")) + raw(b"c") + END,
    "a long name after another": pax((b"path", b"b")) + long(b"a") + raw(b"c") + END,
    "two headers": pax((b"path", b"a")) + pax((b"path", b"b")) + raw(b"c") + END,
    "two headers that differ": pax((b"path", b"a")) + pax((b"size", b"0")) + raw(b"c") + END,
    "a name twice in a header": pax((b"path", b"a"), (b"path", b"b")) + raw(b"c") + END,
    "a name that goes on after a zero": pax((b"path", b"a\0b")) + raw(b"c") + END,
    "a target that goes on after a zero": pax((b"linkpath", b"a\0b")) + head(b"c", 0, b"2") + END,
    "a name of no bytes in a header": pax((b"path", b"")) + raw(b"c") + END,
    "a header of no member": _LAST + pax((b"path", b"a")) + END,
    "a header whose line does not end": raw(b"x", b"10 path=ab", b"x") + raw(b"c") + END,
    "a header whose length is wrong": raw(b"x", b"99 path=b\n", b"x") + raw(b"c") + END,
    "a header without length": raw(b"x", b"path=b\n", b"x") + raw(b"c") + END,
    "a header of no length": raw(b"x", b"0 path=b\n", b"x") + raw(b"c") + END,
    "a size below zero in a header": pax((b"size", b"-5")) + raw(b"c") + END,
    "a size that is not a number": pax((b"size", b"xx")) + raw(b"c") + END,
    "a size of many digits": pax((b"size", b"9" * 57)) + raw(b"c") + END,
    "a large comment": pax((b"comment", b"a" * 70_000)) + _LAST + END,
    "a large header": raw(b"x", bytes(2 << 20), b"x") + raw(b"c") + END,
    "headers without end": raw(b"x", b"10 path=a\n", b"x") * 3000 + END,
    "long names without end": long(b"a") * 3000 + END,
    "a long name without end": head(b"././@LongLink", 1 << 32, b"L") + END,
    "a longer name than any system has": long(b"a" * 4096) + raw(b"c") + END,
    "a longer name in a header": pax((b"path", "é".encode() * 2048)) + raw(b"c") + END,
    "a longer target than any system has": long(b"a" * 4096, b"K") + head(b"c", 0, b"2") + END,
    "a contiguous file": raw(b"train.py", _PROGRAM, b"7") + END,
    "a file without a kind": tar([Entry("a", kind=b"Z")]),
    "a hard link": tar([file("a"), Entry("b", kind=tarfile.LNKTYPE, target="a")]),
    "a hard link out": tar([Entry("b", kind=tarfile.LNKTYPE, target="/etc/passwd")]),
    "a character device": tar([Entry("null", kind=tarfile.CHRTYPE)]),
    "a block device": tar([Entry("disk", kind=tarfile.BLKTYPE)]),
    "a pipe": tar([Entry("pipe", kind=tarfile.FIFOTYPE)]),
    "a sparse file": tar([Entry("hole", kind=tarfile.GNUTYPE_SPARSE)]),
    "a sparse file by a header": pax((b"GNU.sparse.map", b"0,1")) + raw(b"hole", b"x") + END,
    "a volume": raw(b"name", kind=b"V") + END,
    "a file twice": tar([file("a", "1"), file("a", "2")]),
    "a file twice with dots": tar([file("a/b", "1"), file("./a//./b", "2")]),
    "a file over a folder": tar([folder("a"), file("a")]),
    "a folder over a file": tar([file("a"), folder("a")]),
    "a folder twice": tar([folder("a"), folder("a")]),
    "a file in place of a link": tar([link("a", "b"), file("a")]),
    "a folder in place of a link": tar([link("a", "."), folder("a")]),
    "no name": tar([file("")]),
    "no name but a dot": tar([file(".")]),
    "a link to nothing": tar([link("a", "")]),
    "a size that is not there": tar([Entry("a", b"", size=1 << 19)]),
    "a negative size": tar([Entry("a", b"", size=-512)]),
    "a header of a negative size": tar([Entry("a", kind=tarfile.GNUTYPE_LONGNAME, size=-512)]),
    "a wrong checksum": b"b" + raw(b"a")[1:] + END,
    "a wrong checksum later": _LAST + b"\1" * 512 + END,
    "nothing": b"",
    "no end": _LAST,
    "half an end": _LAST + bytes(512),
    "a member after half an end": _LAST + bytes(512) + raw(b"b") + END,
    "a member after the end": _LAST + END + raw(b"b") + END,
    "bytes after the end": _LAST + END + b"x",
    "half of a member": raw(b"a", b"1" * 2000)[:1024],
    "text": b"hello" * 300,
    "zip": b"PK\x03\x04" + bytes(range(256)) * 4,
    "two parts of gzip": gzip.compress(_LAST) + gzip.compress(raw(b"b") + END),
    "another archive after gzip": gzip.compress(_LAST + END) + gzip.compress(raw(b"b") + END),
    "bytes after gzip": packed(*FOLDER) + b"x",
    "zeros after gzip": packed(*FOLDER) + b"\0",
    "gzip without its end": packed(*FOLDER)[:-1],
    "half of gzip": packed(*FOLDER)[:-40],
    "gzip with a wrong sum": packed(*FOLDER)[:-8] + bytes(8),
    "the beginning of gzip": b"\x1f\x8b",
    "no gzip": b"\x1f\x8b" + b"\xff" * 600,
    "gzip of a text": gzip.compress(b"no tar inside" * 100),
    "more zeros than any program writes": gzip.compress(_LAST + bytes(3 << 20)),
}
#: What programs write, and what does not matter in it.
ORDINARY: dict[str, bytes] = {
    "a folder": tar(FOLDER),
    "a compressed folder": packed(*FOLDER),
    "nothing in it": END,
    "the folder itself": tar([folder("."), folder("./a"), file("./a/b", "1"), link("./c", "a/b")]),
    "the oldest format": raw(b"train.py", _PROGRAM, b"\0", magic=b"") + END,
    "a beginning of a name": raw(b"train.py", _PROGRAM, above=b"a/b") + END,
    "a long name": long(b"a/" * 80 + b"train.py") + raw(b"a/a", _PROGRAM, magic=GNU) + END,
    "a long folder": long(b"a/" * 80) + head(b"a/a", 0, b"5", magic=GNU) + END,
    "a long name and a long target": long(b"b" * 120, b"K") + long(b"a" * 120) + head(b"a", 0, b"2") + END,
    "a name in a header": pax((b"path", b"train.py"), (b"mtime", b"1.5")) + raw(b"a", _PROGRAM) + END,
    "a target in a header": pax((b"linkpath", b"train.py")) + head(b"a", 0, b"2") + _LAST + END,
    "a size in a header": pax((b"size", b"14")) + head(b"a", 14) + _PROGRAM + bytes(498) + END,
    "a comment for all": pax((b"comment", b"a" * 40), kind=b"g") + _LAST + END,
    "macOS": pax((b"LIBARCHIVE.creationtime", b"1"), (b"SCHILY.xattr.a", b"\0=\n")) + _LAST + END,
    "a name that is not UTF-8": pax((b"hdrcharset", b"BINARY"), (b"path", b"tr\xe9in.py")) + raw(b"a") + END,
    "many zeros": _LAST + bytes(1 << 20),
    "two names of one file system": tar([file("A", "1"), file("a", "2")]),
}
#: Members, headers and ends from which archives are put together.
PIECES: tuple[bytes, ...] = (
    _LAST,
    raw(b"a/b", _HIDDEN),
    raw(b"docs/", b"", b"\0"),
    raw(b"c", magic=GNU),
    head(b"a", 0, b"5"),
    head(b"d", 1024, b"5"),
    head(b"e", 0, b"2", target=b"a/b"),
    long(b"f"),
    long(b"g", b"K"),
    pax((b"path", b"h")),
    pax((b"linkpath", b"c"), (b"mtime", b"2")),
    pax((b"size", b"14")),
    pax((b"GNU.sparse.name", b"i")),
    pax((b"comment", b"j"), kind=b"g"),
    pax((b"path", b"k"), kind=b"g"),
    bytes(512),
)
