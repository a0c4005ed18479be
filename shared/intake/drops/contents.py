"""What lies in the drop container, read page by page: no more is kept of it than was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from shared.core.each import each
from shared.core.ports import IN_ARCHIVE, Blob, BlobPage, Drops, Ports
from shared.core.refusals import refused
from shared.intake.drops.folder import JOB_FILE, PAGES_BELOW, parent
from shared.intake.drops.left_out import Others
from shared.intake.drops.plan import Plans
from shared.jobspec import Problem, is_ignored, quote

_DIGITS = 64
#: Earlier than any file.
EVER = datetime.min.replace(tzinfo=UTC)
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
    """The files of a drop directly in a folder, in order of names, and the folders directly below it.

    `ignored`: the files and folders there that belong to no drop.
    """

    blobs: list[Blob]
    folders: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    @property
    def deeper(self) -> bool:
        """Whether there are folders below it."""
        return bool(self.folders)


async def files_in(ports: Ports, folder: str) -> Files | None:
    """The files of a drop directly in a folder, in order of names; None if they are too many for a drop.

    `folder` ends with a slash or is empty.
    """
    files, folders, others, after, more = list[Blob](), list[str](), list[str](), "", True
    while more:
        page = await ports.drops.page(folder, deep=False, after=after)
        files += [blob for blob in page.blobs if not is_ignored(blob.name)]
        folders += [one for one in page.folders if not is_ignored(f"{one}x")]
        if len(others) <= ports.policy.max_files:
            others += _ignored(page)
        if len(files) > ports.policy.max_files:
            return None
        after, more = page.next, bool(page.next)
    return Files(sorted(files, key=lambda blob: blob.name), tuple(folders), tuple(others))


def _ignored(page: BlobPage) -> list[str]:
    """The files and folders of a page that belong to no drop."""
    folders = [one for one in page.folders if is_ignored(f"{one}x")]
    return [*folders, *(blob.name for blob in page.blobs if is_ignored(blob.name))]


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
    newest: datetime = EVER
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
    if (warning := warning_of_cold(files)) is None:
        return plans
    return replace(plans, runs=tuple(replace(one, problems=(*one.problems, warning)) for one in plans.runs))


def warning_of_cold(files: Sequence[Blob]) -> Problem | None:
    """The problem that names the files that nothing can read; None if there are none."""
    names = [quote(blob.name, 200) for blob in files if blob.archived]
    return refused("SW114", "", _message(names)) if names else None


class Whole(NamedTuple):
    """The files of a folder, and of the folders below it that are not drops of their own.

    `cut`: there may be more, which were not listed. `others`: what else lies there.
    """

    blobs: list[Blob]
    cut: bool = False
    others: Others = Others()


def of_teams(whole: Whole, is_readable: Callable[[str], bool]) -> Whole:
    """What of it a job may have: a folder below may be another team's, and its names are, too."""

    def names(those: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in those if is_readable(parent(name)))

    blobs = [blob for blob in whole.blobs if is_readable(parent(blob.name))]
    others = Others(names(whole.others.ignored), names(whole.others.drops))
    return whole._replace(blobs=blobs, others=others)


async def all_files(drops: Drops, folder: str, files: Files) -> Whole:
    """Those of a folder, and of the folders below it that are not drops of their own.

    One request where there are folders below, and more for thousands of files: only where a job begins, or is
    explained.
    """
    if not folder or not files.deeper:  # at the top they are drops of their own
        return Whole(files.blobs, others=Others(files.ignored, files.folders))
    below, own, others, after = list[Blob](), list[str](), [*files.ignored], ""
    for _ in range(PAGES_BELOW):
        page = await drops.page(folder, after=after)
        blobs = [blob for blob in page.blobs if "/" in blob.name[len(folder) :]]
        own += [parent(blob.name) for blob in blobs if _begins_a_drop(blob)]
        below += [blob for blob in blobs if not is_ignored(blob.name)]
        others += [blob.name for blob in blobs if is_ignored(blob.name)]
        if not (after := page.next):
            break
    by_folder = await _by_folder(drops, folder) if after else None
    if by_folder is not None:
        apart = Others((*files.ignored, *by_folder.others.ignored), by_folder.others.drops)
        return Whole([*files.blobs, *by_folder.blobs], others=apart)
    drops_below = tuple(own)
    apart = Others(tuple(one for one in others if not one.startswith(drops_below)), drops_below)
    within = [blob for blob in below if not blob.name.startswith(drops_below)]
    return Whole([*files.blobs, *within], cut=bool(after), others=apart)


def _begins_a_drop(blob: Blob) -> bool:
    return blob.name.endswith(f"/{JOB_FILE}") and not is_ignored(blob.name)


async def _by_folder(drops: Drops, top: str) -> Whole | None:
    """Those below, asked for folder by folder, so that no other drop is listed; None if they are too many."""
    below, folders, requests = list[Blob](), [top], 0
    others, own = list[str](), list[str]()
    while folders:
        at, after, more = folders.pop(), "", True
        while more:
            if requests >= _REQUESTS or len(below) >= _MOST_BELOW:
                return None
            page = await drops.page(at, deep=False, after=after)
            if at != top:
                below += [blob for blob in page.blobs if not is_ignored(blob.name)]
                others += _ignored(page) if len(others) < _MOST_BELOW else ()
            inner = [one for one in page.folders if not is_ignored(f"{one}x")]
            jobs = await each(inner, lambda one: drops.find(f"{one}{JOB_FILE}"))
            for one, job in zip(inner, jobs, strict=True):
                (folders if job is None else own).append(one)
            requests += 1 + len(inner)
            after, more = page.next, bool(page.next)
    return Whole(below, others=Others(tuple(others), tuple(own)))


def _message(names: Sequence[str]) -> str:
    some = ", ".join(names[:_NAMED])
    if len(names) == 1:
        return f"{some} {IN_ARCHIVE}"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{some}{more} are in the archive tier, in which nothing can read them"
