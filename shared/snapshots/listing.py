"""Reads an archive as data: names, sizes, and the text of one file. Nothing in it is trusted.

An archive is what a client sent, so it may be anything: a bomb, a chain of headers, no archive at all. It is
read once, forwards, within bounds, and nothing of it is written anywhere here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from shared.snapshots.grammar import OTHERS, Entry, OverLimit, members
from shared.snapshots.pack import ENTRIES, MIB

#: The most bytes of an archive that are unpacked to show it, and of a file that is shown.
SHOWN, TEXT = 32 * MIB, 1 << 16
#: The most bytes of the names that a listing has, as JSON writes them.
NAMES = 4 * MIB


class Listing(NamedTuple):
    """The members in their order, and whether others follow, which the bounds leave out."""

    entries: tuple[Entry, ...]
    more: bool

    @property
    def files(self) -> int | None:
        """How many files and links the archive has; None where others follow."""
        return None if self.more else sum(not entry.name.endswith("/") for entry in self.entries)


def listing(archive: BinaryIO, limit: int = SHOWN, entries: int = ENTRIES) -> Listing:
    """The members of an archive. Raises Unreadable."""
    listed, names = list[Entry](), 0
    try:
        for entry, _ in members(archive, limit):
            names += len(json.dumps((entry.name, entry.link)))
            if len(listed) == entries or names > NAMES:
                return Listing(tuple(listed), True)
            listed.append(entry)
    except OverLimit:
        return Listing(tuple(listed), True)
    return Listing(tuple(listed), False)


def content(archive: BinaryIO, name: str, limit: int = SHOWN, size: int = TEXT) -> bytes | None:
    """The first bytes of a file, as many as `size`; None if there is none of that name. Raises Unreadable."""
    try:
        for entry, data in members(archive, limit):
            if entry.name == name and not entry.link:
                return b"".join(data)[:size] if entry.size <= size else _begin(data, size)
    except OverLimit:
        pass
    return None


def is_text(name: str) -> bool:
    """Whether a name is UTF-8."""
    return name.encode("utf-8", OTHERS) == name.encode("utf-8", "replace")


def as_text(name: str) -> str:
    """The name as text, as no other is: a byte that is not UTF-8 is `\\xff`, and a backslash is doubled."""
    return name.replace("\\", "\\\\").encode("utf-8", OTHERS).decode("utf-8", "backslashreplace")


def _begin(data: Iterator[bytes], size: int) -> bytes:
    begin = b""
    while len(begin) < size:
        begin += next(data)
    return begin[:size]
