"""Unpacks the archive of a job's code, which is hostile: the author of the job made it.

Only files, folders and links inside are made, below a new folder to which nothing else writes.
"""

import gzip
import os
import tarfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List

#: Entries of an archive, bytes in the headers of one, and bytes of all files together.
ENTRIES, HEADERS, UNPACKED = 20_000, 1 << 20, 4 << 30
#: Bytes that are read at a time.
CHUNK = 1 << 18
#: The longest path and the longest name that file systems have, in bytes.
LONGEST_PATH, LONGEST_NAME = 4000, 255


class Hostile(Exception):
    """No honest packer makes such an archive: the reason."""


class Bounded:
    """An archive of which only so many bytes are read into memory: its headers name their own size."""

    def __init__(self, file: Any) -> None:
        self._file, self.remaining = file, HEADERS
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def read(self, count: int = -1) -> bytes:
        """Read some bytes of those that remain. Raises Hostile."""
        if not 0 <= count <= self.remaining:
            raise Hostile("a header of its archive is too large")
        self.remaining -= count
        return bytes(self._file.read(count))


def unpack(file: BinaryIO, top: Path, most: int = UNPACKED, entries: int = ENTRIES) -> None:
    """Make what is in the archive below `top`, an empty folder. Raises Hostile, and OSError of the disk."""
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    source = Bounded(gzip.GzipFile(fileobj=file) if is_packed else file)
    tree = Tree(top, most, entries)
    try:
        for member in _members(source):
            tree.add(member, source)
    except OSError as error:
        if error.errno is not None:
            raise
        raise Hostile(f"its archive cannot be read: {error}") from None
    except (tarfile.TarError, EOFError, zlib.error, ValueError, OverflowError, RecursionError) as error:
        raise Hostile(f"its archive cannot be read: {error}") from None
    tree.check_links()


def _members(source: Any) -> Iterator[tarfile.TarInfo]:
    with tarfile.open(fileobj=source, mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
        while True:
            source.remaining = HEADERS
            member = tar.next()
            if member is None:
                return
            yield member


class Tree:
    """What has been made of an archive: the kind of each entry, by its path."""

    def __init__(self, top: Path, most: int, entries: int) -> None:
        self._top, self._most, self._entries, self._size = top, most, entries, 0
        self._kinds: Dict[str, str] = {}

    def add(self, member: tarfile.TarInfo, source: Bounded) -> None:
        """Make one entry. Raises Hostile."""
        parts = _parts(member.name)
        path = "/".join(parts)
        for number in range(1, len(parts)):
            self._make_folder("/".join(parts[:number]))
        if member.isdir():
            if parts:
                self._make_folder(path)
        elif path in self._kinds or not parts:
            raise _hostile(member.name, "is there twice")
        elif member.issym():
            self._make_link(path, _on_disk(member.linkname))
        elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and not member.issparse():
            self._make_file(path, member, source)
        else:
            raise _hostile(member.name, "is neither a file nor a folder nor a link")

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
        if not target or target.startswith("/") or "\0" in target:
            raise _hostile(path, "is a link to what is not in the archive")
        self._enter(path, "link").symlink_to(target)

    def _make_file(self, path: str, member: tarfile.TarInfo, source: Bounded) -> None:
        self._size += max(0, member.size)
        if member.size < 0 or self._size > self._most:
            raise _hostile(path, f"is too large: all files have at most {self._most >> 20} MiB")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        mode = 0o755 if member.mode & 0o100 else 0o644
        with os.fdopen(os.open(str(self._enter(path, "file")), flags, mode), "wb") as file:
            source.seek(member.offset_data)
            remaining = member.size
            while remaining:
                source.remaining = CHUNK
                data = source.read(min(CHUNK, remaining))
                if not data:
                    raise _hostile(path, "ends too early")
                file.write(data)
                remaining -= len(data)

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
    if not name or name.startswith("/") or ".." in parts or "\0" in name:
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
