"""Archives of code as a packer makes them, and as only an attacker does."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One entry of an archive. `size`: what its header says, if that is not true."""

    name: str
    content: bytes = b""
    kind: bytes = tarfile.REGTYPE
    target: str = ""
    mode: int = 0o644
    size: int | None = None


def file(name: str, content: str | bytes = b"", *, executable: bool = False) -> Entry:
    """A regular file."""
    data = content.encode() if isinstance(content, str) else content
    return Entry(name, data, mode=0o755 if executable else 0o644)


def folder(name: str) -> Entry:
    """An empty folder."""
    return Entry(name, kind=tarfile.DIRTYPE, mode=0o755)


def link(name: str, target: str) -> Entry:
    """A symbolic link."""
    return Entry(name, kind=tarfile.SYMTYPE, target=target)


def tar(entries: Iterable[Entry]) -> bytes:
    """The entries in a tar, in their order."""
    parts = []
    for entry in entries:
        info = tarfile.TarInfo(entry.name)
        info.type, info.linkname, info.mode = entry.kind, entry.target, entry.mode
        info.size = len(entry.content) if entry.size is None else entry.size
        parts.append(info.tobuf(tarfile.PAX_FORMAT if info.size >= 0 else tarfile.GNU_FORMAT))
        parts.append(entry.content + bytes(-len(entry.content) % 512))
    return b"".join([*parts, bytes(1024)])


def packed(*entries: Entry) -> bytes:
    """The entries in a compressed tar."""
    return gzip.compress(tar(entries), 1, mtime=0)


def digest(archive: bytes) -> str:
    """The name of an archive."""
    return hashlib.sha256(archive).hexdigest()


#: A folder as people have them.
FOLDER = (
    file("train.py", "import features\nprint(features.VALUE, open('data/rows.csv').read().strip())\n"),
    file("features.py", "VALUE = 1\n"),
    file("data/rows.csv", "1,2\n"),
    file("run.sh", "#!/bin/sh\necho ran\n", executable=True),
    file(".hidden", "dot\n"),
    folder("empty"),
    link("latest.csv", "data/rows.csv"),
)
#: A command that uses all of it, changes its own copy, and what it prints.
COMMAND = (
    'python3 train.py && ./run.sh && cat .hidden latest.csv && ls empty && [ "$PWD" = "$SLIPWAY_CODE" ] && '
    "echo changed >data/rows.csv && python3 train.py"
)
PRINTED = "1 1,2\nran\ndot\n1,2\n1 changed\n"
