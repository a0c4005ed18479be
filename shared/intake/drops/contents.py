"""What lies in the drop container, read page by page: no more is kept of it than was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from shared.core.each import each
from shared.core.ports import IN_ARCHIVE, Blob, Drops, Ports
from shared.core.refusals import refused
from shared.intake.drops.folder import JOB_FILE, PAGES_BELOW, ignored, parent
from shared.intake.drops.plan import Plans
from shared.jobspec import quote

_DIGITS = 64
_EVER = datetime.min.replace(tzinfo=UTC)
#: How many files a warning names.
_NAMED = 3
#: Requests, and files below a folder, after which a list of a folder with many folders below ends.
_REQUESTS, _MOST_BELOW = 2_000, 1_000


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


def with_cold(plans: Plans, files: Sequence[Blob]) -> Plans:
    """The same plans; each run says which of the files its job cannot read."""
    cold = [blob for blob in files if blob.archived]
    if not cold:
        return plans
    warning = refused("SW114", "", _message([quote(blob.name, 200) for blob in cold]))
    return replace(plans, runs=tuple(replace(one, problems=(*one.problems, warning)) for one in plans.runs))


class Whole(NamedTuple):
    """The files of a folder, and of the folders below it that are not drops of their own.

    `cut`: there may be more, which were not listed.
    """

    blobs: list[Blob]
    cut: bool = False


async def all_files(drops: Drops, folder: str, files: Files) -> Whole:
    """Those of a folder, and of the folders below it that are not drops of their own.

    One request where there are folders below, and more for thousands of files: only where a job begins, or is
    explained.
    """
    if not folder or not files.deeper:  # at the top they are drops of their own
        return Whole(files.blobs)
    below, own, after = list[Blob](), list[str](), ""
    for _ in range(PAGES_BELOW):
        page = await drops.page(folder, after=after)
        blobs = [blob for blob in page.blobs if "/" in blob.name[len(folder) :]]
        own += [parent(blob.name) for blob in blobs if blob.name.endswith(f"/{JOB_FILE}")]
        below += [blob for blob in blobs if not ignored(blob.name)]
        if not (after := page.next):
            break
    by_folder = await _by_folder(drops, folder) if after else None
    if by_folder is None:
        by_folder = [blob for blob in below if not blob.name.startswith(tuple(own))]
        return Whole([*files.blobs, *by_folder], cut=bool(after))
    return Whole([*files.blobs, *by_folder])


async def _by_folder(drops: Drops, top: str) -> list[Blob] | None:
    """Those below, asked for folder by folder, so that no other drop is listed; None if they are too many."""
    below, folders, requests = list[Blob](), [top], 0
    while folders:
        at, after, more = folders.pop(), "", True
        while more:
            if requests >= _REQUESTS or len(below) >= _MOST_BELOW:
                return None
            page = await drops.page(at, deep=False, after=after)
            if at != top:
                below += [blob for blob in page.blobs if not ignored(blob.name)]
            inner = [one for one in page.folders if not ignored(f"{one}x")]
            jobs = await each(inner, lambda one: drops.find(f"{one}{JOB_FILE}"))
            folders += [one for one, job in zip(inner, jobs, strict=True) if job is None]
            requests += 1 + len(inner)
            after, more = page.next, bool(page.next)
    return below


def _message(names: Sequence[str]) -> str:
    some = ", ".join(names[:_NAMED])
    if len(names) == 1:
        return f"{some} {IN_ARCHIVE}"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{some}{more} are in the archive tier, in which nothing can read them"
