"""What stands in a directory that others may write."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Literal, NamedTuple

from confined.way import Circle, Special

#: The last moment that a date can hold; files may be of later ones.
_LATEST = 253_402_300_799.0
Kind = Literal["file", "directory", "link", "pipe", "socket", "device"]
#: Where a link leads that is shown as one: out of the root, nowhere, or to a pipe, a socket or a device.
Leads = Literal["", "out", "nowhere", "special"]
_WORDS: tuple[Kind, ...] = ("file", "directory", "pipe", "socket")
_KINDS = dict(zip((stat.S_IFREG, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFSOCK), _WORDS, strict=True))


@dataclass(frozen=True)
class Entry:
    """What stands in a directory. A link is shown as what it leads to, if that is below the root and near.

    `path` is where that really is, from the root on, without any link. Only files and directories open.
    """

    name: str
    path: str
    kind: Kind
    size: int
    #: Unix time, one that a date can hold
    modified: float
    #: of a file: whether its owner may execute it
    executable: bool = False
    leads: Leads = ""


class Listing(NamedTuple):
    """Entries of a directory by name; the name after which others follow, or ""; whether some never do."""

    entries: list[Entry]
    next: str
    more: bool


def entry_of(name: str, path: str, status: os.stat_result) -> Entry:
    """What is there, and really at that path."""
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "device")
    runs = kind == "file" and bool(status.st_mode & stat.S_IXUSR)
    return Entry(name, path, kind, status.st_size, modified(status), runs)


def link_of(name: str, path: str, status: os.stat_result, error: OSError) -> Entry:
    """A link that could not be followed."""
    return Entry(name, path, "link", status.st_size, modified(status), leads=_leads(error))


def _leads(error: OSError) -> Leads:
    """Where a link leads that could not be followed."""
    if isinstance(error, Special):
        return "special"
    return "nowhere" if isinstance(error, FileNotFoundError | NotADirectoryError | Circle) else "out"


def modified(status: os.stat_result) -> float:
    """When a file was changed, Unix time; its author may have set any year, and no date holds them all."""
    return min(max(0.0, status.st_mtime), _LATEST)
