"""Writes an archive into a new directory.

It may come from anyone, so nothing of it is written outside, and no link leads out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, NamedTuple

from shared.core.visible import escaped
from shared.snapshots.grammar import Entry, Unreadable
from shared.snapshots.listing import is_text
from shared.snapshots.pack import MIB, UNPACKED
from slipway.client.files.names import impossible, too_long
from slipway.client.snapshot.members import as_on_node
from slipway.failure import Failure

#: The most bytes that an archive may unpack to here: what files have, and the room between them.
LIMIT = UNPACKED + 64 * MIB


class Unpacked(NamedTuple):
    """How many files were written, and what was not, with the reasons."""

    files: int
    skipped: dict[str, str]


def unpack(archive: BinaryIO, to: Path, limit: int = LIMIT) -> Unpacked:
    """Write the files of an archive. Raises Failure for a directory with something in it.

    Of two names that are one to this disk (`Model` and `model`), the second is left out.
    """
    to.mkdir(parents=True, exist_ok=True)
    if any(to.iterdir()):
        raise Failure(f"{to} is not empty; name a new directory with --to")
    files, links, skipped, written = 0, list[Entry](), dict[str, str](), dict[int, str]()
    try:
        for entry, data in as_on_node(archive, limit):
            if reason := _flaw(entry.name):
                skipped[entry.name] = reason
            elif entry.link:
                links.append(entry)
            else:
                try:
                    written[_write(to / entry.name, entry, data)] = entry.name
                    files += not entry.name.endswith("/")
                except (FileExistsError, NotADirectoryError):
                    skipped[entry.name] = _occupied(to, entry.name, written)
    except Unreadable as error:
        raise Failure(f"the code cannot be unpacked: {error}") from None
    except OSError as error:
        raise Failure(f"{to} cannot be written: {error.strerror}") from None
    for link in links:  # at the end, so that no file is written through one
        reason = _linked(to, link)
        files += not reason
        skipped |= {link.name: reason} if reason else {}
    return Unpacked(files, skipped)


def _write(path: Path, entry: Entry, data: Iterator[bytes]) -> int:
    """Write a file, or make a folder; the number by which the disk knows it."""
    if entry.name.endswith("/"):
        path.mkdir(parents=True, exist_ok=True)
        return path.stat().st_ino
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777 if entry.executable else 0o666)
    with closing(os.fdopen(descriptor, "wb")) as file:
        for part in data:
            file.write(part)
    return path.stat().st_ino


def _occupied(to: Path, name: str, written: Mapping[int, str]) -> str:
    """Why there is no place for a member: what this disk has there."""
    path = to / name
    ways = [one for one in (*reversed(path.parents), path) if one.is_relative_to(to) and one.exists()]
    at = next((one for one in ways if not one.is_dir()), path)
    other = written.get(at.stat().st_ino, "")
    return f"this disk takes it for {escaped(other)}" if other else "something else has its name"


def _flaw(name: str) -> str:
    """Why there cannot be a file of that name here; "" if there can."""
    levels = name.removesuffix("/").split("/")
    if name.startswith("/") or ".." in levels:
        return "its name leads out of the folder"
    if not is_text(name):
        return "its name is not UTF-8"
    return next(filter(None, map(impossible if os.name == "nt" else too_long, levels)), "")


def _linked(to: Path, link: Entry) -> str:
    """Make a link to what is in the directory; returns why not, or ""."""
    place, target = to / link.name, link.link
    levels = target.split("/")
    climbs = next((count for count, level in enumerate(levels) if level != ".."), len(levels))
    inside = climbs <= link.name.count("/") and ".." not in levels[climbs:]
    if target.startswith("/") or not inside:
        return "it is a link that leads out of the folder"
    if not is_text(target):
        return "what it leads to is not UTF-8"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if Path(os.path.realpath(place.parent)) != Path(os.path.realpath(to)) / Path(link.name).parent:
            return "it is below another link"
        place.symlink_to(target)
    except OSError as error:
        return f"the link to {escaped(target)} cannot be made: {error.strerror}"
    return ""
