"""Brings what earlier jobs left in the container to a node, before its job starts.

The standard input says where: the container, and for each directory the prefix of its names and its place on
the node. Each is whole, or not there: then its name is in the journal with the reason.
"""

import fcntl
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, NamedTuple
from xml.etree import ElementTree

from shared.engines.node.blobs import Container

#: Bytes of one request, files at once, and which part of the free room they may take.
RANGE, AT_ONCE, SHARE = 16 << 20, 4, 2
#: The lock of nodes that share their directory; it says that all is in place.
IN_PLACE = "after.in-place"


class BlobEntry(NamedTuple):
    """A blob: its path below the directory, its bytes, and whether it is a program, or an empty folder."""

    path: str
    size: int
    is_program: bool
    is_folder: bool


def bring(where: Dict[str, Any], temporary: str) -> int:
    """Bring what earlier jobs left; 1 if the storage or the disk fails, with the reason in the journal."""
    try:
        _bring_all(where, temporary)
    except OSError as error:
        sys.stderr.write(f"What earlier jobs left could not be brought: {error}\n")
        return 1
    return 0


def _bring_all(where: Dict[str, Any], temporary: str) -> None:
    """Bring each directory of `before`, a prefix and a place, below `after` in the directory of the run."""
    container, root = Container(where), Path(temporary, "after")
    with Path(temporary, IN_PLACE).open("a+") as mark:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(mark, fcntl.LOCK_EX)
        mark.seek(0)
        if mark.read():
            return  # another node of the job, which has the same directory, was faster
        root.mkdir(exist_ok=True, mode=0o700)
        for prefix, place in where["before"]:
            new = Path(tempfile.mkdtemp(prefix="new-", dir=str(root)))
            try:
                if _bring_one(container, f"{prefix}/", new, place):
                    (root / place).parent.mkdir(exist_ok=True, parents=True)
                    new.rename(root / place)
            finally:
                shutil.rmtree(str(new), ignore_errors=True)
        mark.write("all")


def _bring_one(container: Container, prefix: str, to: Path, place: str) -> bool:
    """Write the files of one directory; whether they are all there. Raises OSError of the storage."""
    blobs = _blobs_below(container, prefix)
    size, free = sum(one.size for one in blobs), shutil.disk_usage(str(to)).free
    if size * SHARE > free:
        text = "Not brought: {}: it has {:,} bytes, and the disk of the node has {:,} free\n"
        sys.stderr.write(text.format(place, size, free))
        return False
    for one in blobs:
        folder = to / one.path if one.is_folder else (to / one.path).parent
        folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        files = [one for one in blobs if not one.is_folder]
        list(pool.map(lambda one: _fetch_blob(container, prefix, one, to), files))
    return True


def _blobs_below(container: Container, prefix: str) -> List[BlobEntry]:
    """The blobs of a directory. A name that would lead out of it, or is both file and folder, is left out."""
    query = {"restype": "container", "comp": "list", "prefix": prefix, "include": "metadata"}
    by_path = {}  # type: Dict[str, BlobEntry]
    while True:
        content = container.call("GET", "", query).content
        document = ElementTree.fromstring(content)  # noqa: S314 - of the storage itself
        for entry in document.iter("Blob"):
            blob = _blob_of(entry, prefix)
            parts = blob.path.split("/")
            if not any(part in ("", ".", "..") or "\0" in part for part in parts):
                by_path[blob.path] = blob
        query["marker"] = document.findtext("NextMarker") or ""
        if not query["marker"]:
            break
    folders = {above for path in by_path for above in _folders_above(path)}
    return [one for one in by_path.values() if one.is_folder or one.path not in folders]


def _folders_above(path: str) -> List[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _blob_of(entry: Any, prefix: str) -> BlobEntry:
    metadata = {one.tag.lower(): one.text for one in entry.findall("Metadata/*")}
    size = int(entry.findtext("Properties/Content-Length") or 0)
    path = (entry.findtext("Name") or "")[len(prefix) :]
    is_folder = metadata.get("hdi_isfolder") == "true"
    return BlobEntry(path, 0 if is_folder else size, metadata.get("executable") == "true", is_folder)


def _fetch_blob(container: Container, prefix: str, blob: BlobEntry, to: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(str(to / blob.path), flags, 0o755 if blob.is_program else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        for first in range(0, blob.size, RANGE):
            last = min(first + RANGE, blob.size) - 1
            data = container.call("GET", prefix + blob.path, headers={"x-ms-range": f"bytes={first}-{last}"})
            if len(data.content) != last + 1 - first:
                raise OSError(f"{prefix}{blob.path} is not as it was listed")
            file.write(data.content)
