"""The members of an archive under the names that a node gives them, and no more than a node makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from shared.snapshots.grammar import Entry, Unreadable, members
from shared.snapshots.pack import ENTRIES

#: The longest path that a node makes, in characters.
_LONGEST = 4000


def as_on_node(
    archive: BinaryIO, limit: int, entries: int = ENTRIES
) -> Iterator[tuple[Entry, Iterator[bytes]]]:
    """Each member with its bytes, but for the folder itself. Raises Unreadable, as a node refuses it.

    Parts of a path that are empty or a dot are not in its name. Folders count, too, which only paths name.
    """
    paths = set[str]()
    for entry, data in members(archive, limit):
        name = _name(entry.name)
        path = name.rstrip("/")
        paths.update((path, *folders_above(path)) if path else ())
        if len(paths) > entries:
            raise Unreadable(f"it has more than {entries:,} files and folders")
        if name:
            yield entry._replace(name=name), data


def _name(name: str) -> str:
    if len(name) > _LONGEST:
        raise Unreadable("a name in it is too long")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    path = "/".join(parts)
    return ("/" if name.startswith("/") else "") + path + ("/" if path and name.endswith("/") else "")


def folders_above(name: str) -> Iterator[str]:
    """The folders that a name is in, the nearest first."""
    while name := name.rpartition("/")[0]:
        yield name
