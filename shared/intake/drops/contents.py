"""What lies in the drop container, read page by page: no more is kept of it than was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from shared.core.ports import Blob, Drops, Ports
from shared.intake.drops.folder import ignored

_DIGITS = 64
_EVER = datetime.min.replace(tzinfo=UTC)


async def walk(drops: Drops, prefix: str, *, deep: bool = True) -> AsyncIterator[Blob]:
    """Each blob whose name starts with the prefix; with `deep=False` none in a folder below it."""
    after, more = "", True
    while more:
        page = await drops.page(prefix, deep=deep, after=after)
        for blob in page.blobs:
            yield blob
        after, more = page.next, bool(page.next)


class Files(NamedTuple):
    """The files of a drop directly in a folder, in order of names; whether there are folders below it."""

    blobs: list[Blob]
    deeper: bool


async def files_in(ports: Ports, folder: str) -> Files | None:
    """The files of a drop directly in a folder, in order of names; None if they are too many for a drop.

    `folder` ends with a slash or is empty.
    """
    files, deeper, after, more = list[Blob](), False, "", True
    while more:
        page = await ports.drops.page(folder, deep=False, after=after)
        files += [blob for blob in page.blobs if not ignored(blob.name)]
        deeper = deeper or any(not ignored(f"{one}x") for one in page.folders)
        if len(files) > ports.policy.max_files:
            return None
        after, more = page.next, bool(page.next)
    return Files(sorted(files, key=lambda blob: blob.name), deeper)


def too_many(ports: Ports) -> str:
    """What a folder waits for that has more files."""
    return (
        f"the folder holds more than {ports.policy.max_files:,} files, too many for one folder of a drop: "
        "put data into a container that jobs mount (slipway data put), and delete it here"
    )


@dataclass
class Contents:
    """What is remembered of the files directly in a folder: how many, the youngest, and their digest."""

    number: int = 0
    newest: datetime = _EVER
    _sum: int = 0

    def add(self, blob: Blob) -> None:
        """Count a file; the order does not matter."""
        self.number += 1
        self.newest = max(self.newest, blob.modified)
        self._sum += int.from_bytes(hashlib.sha256(f"{blob.name}={blob.etag}".encode()).digest())

    @property
    def digest(self) -> str:
        """By which a folder is recognised that has not changed."""
        return f"{self._sum:0{_DIGITS}x}"[-_DIGITS:]


def contents_of(files: Sequence[Blob]) -> Contents:
    """The contents of a folder with these files."""
    contents = Contents()
    for blob in files:
        contents.add(blob)
    return contents
