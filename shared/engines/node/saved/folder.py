"""The saved directory on a node: what stands in it now, and how a new one is filled.

Its job may replace anything in it by something else at any moment: nothing is opened through a link.
"""

import errno
import hashlib
import os
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Set, Tuple

from shared.engines.node.files import PRIVATE, remove
from shared.engines.node.saved.generations import (
    FILE,
    FOLDER,
    LINK,
    LONGEST_PATH,
    MOST_ENTRIES,
    Entry,
    is_path,
    leads_inside,
)

#: How many files are uploaded or downloaded at a time.
FILES_AT_A_TIME = 4
#: Follows no link, waits for no pipe.
_UNLINKED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PASSAGE = _UNLINKED | os.O_DIRECTORY


class Status(NamedTuple):
    """What stands somewhere. Two that are equal are the same file, unchanged."""

    kind: str
    inode: int = 0
    size: int = 0
    modified: int = 0
    mode: int = 0
    #: where a link leads
    text: str = ""


class Listing(NamedTuple):
    """What a directory has, by path, why something in it is not saved, and what of it cannot be read."""

    entries: Dict[str, Status]
    left_out: Dict[str, str]
    closed: Set[str]


def saved_listing(root: str) -> Listing:
    """Everything in the directory, up to more entries than a generation may have. Raises OSError."""
    result, top = Listing({}, {}, set()), os.open(root, _PASSAGE)
    try:
        waiting = [""]
        while waiting and len(result.entries) <= MOST_ENTRIES:
            for path, status in _entries_of(top, root, waiting.pop(), result):
                reason = _why_not_saved(path, status)
                if reason:
                    if len(result.left_out) < MOST_ENTRIES:
                        result.left_out[ascii(path)] = reason
                    continue
                result.entries[path] = status
                if len(result.entries) > MOST_ENTRIES:
                    break
                if status.kind == FOLDER:
                    waiting.append(path)
    finally:
        os.close(top)
    return result


def _entries_of(top: int, root: str, folder: str, result: Listing) -> Iterator[Tuple[str, Status]]:
    """The path and the status of everything in a folder; one that cannot be read is noted in the result.

    Raises OSError if that is the directory itself.
    """
    try:
        descriptor = _descend(top, folder, _PASSAGE) if folder else os.dup(top)
    except (FileNotFoundError, NotADirectoryError):
        return  # removed since
    except OSError as error:
        result.left_out[ascii(folder)] = f"it cannot be read: {error.strerror}"
        result.closed.add(folder)
        return
    try:
        for name in os.listdir(descriptor):  # noqa: PTH208 - of a descriptor
            with suppress(FileNotFoundError):
                status, target = os.stat(name, dir_fd=descriptor, follow_symlinks=False), ""
                if stat.S_ISLNK(status.st_mode):
                    target = os.readlink(name, dir_fd=descriptor)
                if f"{target}/".startswith(f"{root}/"):
                    target = os.path.relpath(target, f"{root}/{folder}")
                yield f"{folder}/{name}".lstrip("/"), status_of(status, target)
    except PermissionError as error:  # it may be listed, and not entered
        if not folder:
            raise
        result.left_out[ascii(folder)] = f"it cannot be read: {error.strerror}"
        result.closed.add(folder)
    finally:
        os.close(descriptor)


def status_of(status: os.stat_result, text: str = "") -> Status:
    """What of the status of a file matters here."""
    kinds = {stat.S_IFREG: FILE, stat.S_IFDIR: FOLDER, stat.S_IFLNK: LINK}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "")
    if kind != FILE:
        return Status(kind, text=text)
    return Status(FILE, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode & 0o777 | 0o600)


def _why_not_saved(path: str, status: Status) -> str:
    """Why it is not saved; "" if it is."""
    if not status.kind:
        return "only files, folders and links are saved"
    if not is_path(path):
        return f"a path has at most {LONGEST_PATH} bytes"
    is_astray = status.kind == LINK and not leads_inside(path, status.text)
    return "only links straight to something in the directory are saved" if is_astray else ""


def open_below(root: str, path: str) -> int:
    """The descriptor of a file in the directory. Raises OSError, also where a link is on the way."""
    top = os.open(root, _PASSAGE)
    try:
        return _descend(top, path, _UNLINKED)
    finally:
        os.close(top)


def _descend(top: int, path: str, flags: int) -> int:
    folder, parts = os.dup(top), path.split("/")
    try:
        for part in parts[:-1]:
            folder, above = os.open(part, _PASSAGE, dir_fd=folder), folder
            os.close(above)
        return os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)


def fill(root: str, entries: Dict[str, Entry], bring: Callable[[Entry, int], None]) -> None:
    """Put a directory with these entries in the place of an empty one; `bring` writes a file's content.

    It is whole, or not there. Nodes of one machine, as an emulator's, may do it at once: the first counts.
    Raises OSError.
    """
    Path(root).mkdir(PRIVATE, parents=True, exist_ok=True)
    beside = tempfile.mkdtemp(prefix=f"{Path(root).name}.", dir=str(Path(root).parent))
    try:
        _make_all(Path(beside), entries, bring)
        _take_place(beside, root)
    finally:
        remove(beside)


def _take_place(beside: str, root: str) -> None:
    try:
        Path(beside).rename(root)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _make_all(root: Path, entries: Dict[str, Entry], bring: Callable[[Entry, int], None]) -> None:
    """Folders first, then some files at a time, and links last, so that nothing is written through one."""
    by_kind: Dict[str, List[Tuple[Path, Entry]]] = {FOLDER: [], FILE: [], LINK: []}
    for path, entry in sorted(entries.items()):
        by_kind[entry.kind].append((root / path, entry))
        folder = root / path if entry.kind == FOLDER else (root / path).parent
        folder.mkdir(PRIVATE, parents=True, exist_ok=True)
    with ThreadPoolExecutor(FILES_AT_A_TIME) as pool:
        list(pool.map(lambda file: _make(file[0], file[1], bring), by_kind[FILE]))
    for place, entry in by_kind[LINK]:
        place.symlink_to(entry.text)


def _make(place: Path, entry: Entry, bring: Callable[[Entry, int], None]) -> None:
    descriptor = os.open(str(place), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "rb") as file:
        bring(entry, descriptor)
        digest = hashlib.sha256()
        for data in iter(lambda: file.read(1 << 20), b""):
            digest.update(data)
        if digest.hexdigest() != entry.text:
            raise OSError(f"{place.name!a} has other bytes than were saved")
        os.fchmod(descriptor, entry.mode & 0o777)
        with suppress(OSError, OverflowError):  # a time that this file system cannot hold
            os.utime(descriptor, ns=(entry.modified, entry.modified))
