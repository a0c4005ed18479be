"""Unpacks the archive of a job's code, which is hostile: the author of the job made it.

Only files, folders and links inside are made, below a new folder to which nothing else writes.
"""

import os
from pathlib import Path
from typing import BinaryIO, Dict, Iterator, List

from shared.snapshots.grammar import Entry, Unreadable, members

#: Entries of an archive, bytes of all files together, and of what is between them.
ENTRIES, UNPACKED, ROOM = 20_000, 4 << 30, 1 << 30
#: Bytes that are read at a time.
CHUNK = 1 << 18
#: The longest path and the longest name that file systems have, in bytes.
LONGEST_PATH, LONGEST_NAME = 4000, 255


class Hostile(Exception):
    """No honest packer makes such an archive: the reason."""


def unpack(file: BinaryIO, top: Path, most: int = UNPACKED, entries: int = ENTRIES) -> None:
    """Make what is in the archive below `top`, an empty folder. Raises Hostile, and OSError of the disk."""
    tree = Tree(top, most, entries)
    try:
        for entry, data in members(file, most + ROOM):
            tree.add(entry, data)
    except Unreadable as error:
        raise Hostile(f"its archive cannot be read: {error}") from None
    tree.check_links()


class Tree:
    """What has been made of an archive: the kind of each entry, by its path."""

    def __init__(self, top: Path, most: int, entries: int) -> None:
        self._top, self._most, self._entries, self._size = top, most, entries, 0
        self._kinds: Dict[str, str] = {}

    def add(self, entry: Entry, data: Iterator[bytes]) -> None:
        """Make one entry. Raises Hostile."""
        parts = _parts(entry.name)
        path = "/".join(parts)
        for number in range(1, len(parts)):
            self._make_folder("/".join(parts[:number]))
        if entry.name.endswith("/"):
            if parts:
                self._make_folder(path)
        elif path in self._kinds or not parts:
            raise _hostile(entry.name, "is there twice")
        elif entry.link:
            self._make_link(path, _on_disk(entry.link))
        else:
            self._make_file(path, entry, data)

    def _enter(self, path: str, kind: str) -> Path:
        if len(self._kinds) >= self._entries:
            raise Hostile(f"its archive has more than {self._entries} entries")
        self._kinds[path] = kind
        return self._top / path

    def _make_folder(self, path: str) -> None:
        if path not in self._kinds:
            self._enter(path, "folder").mkdir()
        elif self._kinds[path] != "folder":
            raise _hostile(path, "is not a folder, and has something in it")

    def _make_link(self, path: str, target: str) -> None:
        if target.startswith("/"):
            raise _hostile(path, "is a link to what is not in the archive")
        self._enter(path, "link").symlink_to(target)

    def _make_file(self, path: str, entry: Entry, data: Iterator[bytes]) -> None:
        self._size += entry.size
        if self._size > self._most:
            raise _hostile(path, f"is too large: all files have at most {self._most >> 20} MiB")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        mode = 0o755 if entry.executable else 0o644
        with os.fdopen(os.open(str(self._enter(path, "file")), flags, mode), "wb") as file:
            for part in data:
                file.write(part)

    def check_links(self) -> None:
        """Find the links that lead outside, also by way of another one: now all of them are there."""
        top = os.path.realpath(str(self._top))
        for path, kind in self._kinds.items():
            real = os.path.realpath(str(Path(top, path))) if kind == "link" else top
            if real != top and not real.startswith(top + "/"):
                raise _hostile(path, "is a link to what is not in the archive")


def _parts(name: str) -> List[str]:
    """The folders and the name of an entry, as the disk has them."""
    encoded = _on_disk(name)
    parts = [part for part in encoded.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise _hostile(name, "is not a path below the folder")
    lengths = [len(os.fsencode(part)) for part in parts]
    if sum(lengths) + len(parts) > LONGEST_PATH or max(lengths, default=0) > LONGEST_NAME:
        raise _hostile(name[:80], "is too long for a file system")
    return parts


def _on_disk(name: str) -> str:
    """The name as this process writes it, also where its locale is not UTF-8."""
    return os.fsdecode(name.encode("utf-8", "surrogateescape"))


def _hostile(name: str, reason: str) -> Hostile:
    return Hostile(f"in its archive {name!a} {reason}")


def put(top: Path, target: Path) -> None:
    """Move a tree to its place, where empty folders of the run may be. Raises Hostile.

    What a run that was cut off has put there is replaced: nothing of the job has run.
    """
    is_folder = [path.is_dir() and not path.is_symlink() for path in (top, target)]
    if all(is_folder):
        for path in list(top.iterdir()):
            put(path, target / path.name)
    elif any(is_folder) and os.path.lexists(str(target)):
        raise Hostile(f"{target.name!a} is there already, where its code belongs")
    else:
        top.replace(target)
