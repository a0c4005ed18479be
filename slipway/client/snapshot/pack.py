"""Packs the members of a folder into a temporary file. What changes meanwhile is refused by its name."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import BinaryIO, NamedTuple

from shared.core.visible import escaped
from shared.snapshots.pack import (
    BYTES,
    MIB,
    SAMPLE,
    SAMPLES,
    UNPACKED,
    Changed,
    Packed,
    Packer,
    TooLarge,
    order,
    shrinks,
)
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.walk import File, Tree
from slipway.failure import Failure

#: How many of the largest files a refusal names.
NAMED = 5


class Archive(NamedTuple):
    """A packed folder, open, and what was packed."""

    file: BinaryIO
    packed: Packed


@asynccontextmanager
async def archive_of(tree: Tree, limit: int = BYTES) -> AsyncIterator[Archive]:
    """The archive of a folder, as long as the block lasts. Raises Failure."""
    with tempfile.TemporaryFile(prefix="slipway-code-") as file:
        yield Archive(file, await asyncio.to_thread(pack, tree, file, limit))


def pack(tree: Tree, out: BinaryIO, limit: int = BYTES) -> Packed:
    """Write the archive of a folder to `out`. Raises Failure."""
    if tree.size > UNPACKED:
        raise too_large(tree, UNPACKED, "has")
    files = {file.name: file for file in tree.files}
    compress = shrinks((file.size, _begin(file)) for file in tree.largest(SAMPLES))
    packer = Packer(out, compress=compress, limit=limit)
    try:
        for name in sorted((*files, *tree.links, *tree.empty), key=order):
            if name in files:
                _add(packer, files[name])
            elif name in tree.links:
                packer.link(name, tree.links[name])
            else:
                packer.folder(name)
        return packer.finish()
    except Changed as changed:
        raise _changed(changed.name) from None
    except TooLarge:
        raise too_large(tree, limit) from None
    except OSError as error:
        room = f"is there room in {tempfile.gettempdir()} (TMPDIR)?"
        raise Failure(f"the folder cannot be packed: {error.strerror}; {room}") from None


def too_large(tree: Tree, limit: int, verb: str = "packs to") -> Failure:
    """The refusal of a folder that has, or packs to, more bytes than that, with what is large in it."""
    return Failure(
        f"{tree.folder} {verb} more than {limit / MIB:,.0f} MiB, which is the most that a job takes along; "
        f"the largest files are {largest(tree)}; name data in {IGNORE_FILE}, and put it where jobs mount it "
        "(slipway data put)"
    )


def largest(tree: Tree, count: int = NAMED) -> str:
    """The largest files with their sizes."""
    return ", ".join(f"{escaped(file.name)} ({size_of(file.size)})" for file in tree.largest(count))


def size_of(count: int) -> str:
    """A number of bytes, in KiB or MiB."""
    if count < 1024:
        return f"{count} bytes" if count != 1 else "1 byte"
    return f"{count / MIB:,.1f} MiB" if count >= MIB else f"{count / 1024:,.0f} KiB"


def _begin(file: File) -> bytes:
    with _opened(file) as data:
        return data.read(SAMPLE)


def _add(packer: Packer, file: File) -> None:
    with _opened(file) as data:
        packer.file(file.name, data, file.size, executable=file.executable)
        after = os.fstat(data.fileno())
    if (after.st_size, after.st_mtime_ns) != (file.size, file.modified):
        raise _changed(file.name)


@contextmanager
def _opened(file: File) -> Iterator[BinaryIO]:
    """A file, open. Raises Failure, with its name, if it cannot be read, or is not the file that was seen."""
    try:
        data = file.path.open("rb")
    except FileNotFoundError:
        raise _changed(file.name) from None
    except OSError as error:
        raise Failure(
            f"{escaped(file.name)} cannot be read: {error.strerror}; name it in {IGNORE_FILE} to leave it out"
        ) from None
    with data:
        yield data


def _changed(name: str) -> Failure:
    return Failure(f"{escaped(name)} changed while it was read; run it again when the file is complete")
