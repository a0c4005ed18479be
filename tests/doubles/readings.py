"""What each reader has of one archive of code."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from shared.engines.node.unpack import Hostile, unpack
from shared.snapshots.grammar import Unreadable
from shared.snapshots.listing import content, listing

#: By its path, except folders with something in them: what a link leads to, or bytes and whether they run.
Files = dict[str, tuple[str, bytes, bool]]
_MOST, _ENTRIES = 1 << 20, 100


def on_node(archive: bytes) -> Files | None:
    """What a node makes of it; None if the node cannot read it or takes it for hostile."""
    with TemporaryDirectory() as place:
        try:
            unpack(io.BytesIO(archive), Path(place), _MOST, _ENTRIES)
        except Hostile as error:
            if "cannot be read" in str(error) and shown(archive) is not None:
                raise
            return None
        return files_below(Path(place))


def files_below(top: Path) -> Files:
    """What there is in a folder."""
    return {
        path.relative_to(top).as_posix(): (
            str(path.readlink()) if path.is_symlink() else "",
            path.read_bytes() if not path.is_symlink() and path.is_file() else b"",
            not path.is_symlink() and path.is_file() and bool(path.stat().st_mode & 0o100),
        )
        for path in top.rglob("*")
        if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
    }


def shown(archive: bytes) -> Files | None:
    """What is listed of it; None if it is refused."""
    try:
        entries = listing(io.BytesIO(archive)).entries
    except Unreadable:
        return None
    return _leaves(
        {
            entry.name: (entry.link, content(io.BytesIO(archive), entry.name) or b"", entry.executable)
            for entry in entries
        }
    )


def read_by_others(archive: bytes) -> Files:
    """What Python's own reader has of it."""
    with tarfile.open(fileobj=io.BytesIO(archive), encoding="utf-8", errors="surrogateescape") as tar:
        return _leaves(
            {
                one.name: (
                    one.linkname if one.issym() else "",
                    (tar.extractfile(one) or io.BytesIO()).read() if one.isreg() else b"",
                    one.isreg() and bool(one.mode & 0o100),
                )
                for one in tar.getmembers()
            }
        )


def _leaves(files: Files) -> Files:
    plain = {str(Path(name)): what for name, what in files.items()}
    above = {str(parent) for name in plain for parent in Path(name).parents}
    return {name: what for name, what in plain.items() if name not in above and name != "."}
