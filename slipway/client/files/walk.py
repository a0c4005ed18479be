"""Every file below the output directories of a job, listed folder by folder through the API."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from confined.names import MORE
from slipway.client.files.arriving import Arriving
from slipway.client.files.folders import Entry, Folder, Reader, Shown
from slipway.client.files.output import PARALLEL
from slipway.client.files.remote import Remote
from slipway.client.service import Service

#: Most folders in one walk, and the deepest level. A folder with the same list as one on a higher level may
#: be that folder through a link, and links may form an endless mesh, so it counts as `_ALIKE` folders.
_MOST_FOLDERS, _ALIKE, _DEEPEST = 20_000, 20, 64
#: A folder with the same list as a parent is that parent; with one entry, only after so many repeats.
_ALONE = 8
#: The deepest level for folders that contain only one another. A cluster follows about forty links in a path,
#: so a circle of links ends before that, and deeper ones are real folders.
_CHAIN = 256
_LINK = "it is a link to a folder above it"
_GUESS = "it lists the same as a folder above it, so it was taken for a link to that, and not read"
_REST = (
    "the others are not listed, and still where the job wrote them; copy them from that share or container, "
    "or let the job write fewer files into one folder"
)
_DEEP = (
    "it lies more than {} folders deep, so neither it nor what is in it was read, unless it is a "
    "link to a folder above it; copy it from the share or container that the job wrote it to"
)
_UNNAMED = (
    "its name is not UTF-8, or has a backslash or characters that control, hide or reorder text, so no "
    "request names it"
)
_UNKEPT = "its node could not upload it; execution.log of that node says why"
#: Why an entry has no bytes to save, by its kind in a list.
_NO_FILES = {
    "link": "it is a link that leads out of the job's folder",
    "nowhere": "it is a link that leads nowhere",
    "special": "it is a link to a pipe, a socket or a device",
    "above": _LINK,
    "pipe": "it is a pipe, not a file",
    "socket": "it is a socket, not a file",
    "device": "it is a device, not a file",
    "other": "it is not a file, but a pipe, a socket, a device, or a link that leads nowhere or out of the "
    "job's folder",
}


@dataclass(frozen=True)
class Tree:
    """The files of a job; links that were not followed and folders that could not be listed, with reasons.

    `empty`: the folders in which nothing is.
    """

    files: tuple[Remote, ...]
    skipped: tuple[tuple[str, str], ...]
    unread: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()


@dataclass
class Walk:
    """A walk through the folders of a job: what it has found, and how far it may go."""

    patterns: Sequence[str] = ()
    receive: Callable[[Sequence[Remote]], None] = lambda _: None
    files: list[Remote] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    #: the level on which each list was seen first
    levels: dict[Shown, int] = field(default_factory=dict)
    count: int = 0

    async def take(self, folder: Folder, pages: Arriving[list[Entry]]) -> list[Folder]:
        """Note the files of a folder, page by page. Returns the folders in it that must be listed."""
        entries, held, may_be_above = list[Entry](), list[Entry](), bool(folder.above)
        async for page in pages:
            entries += page
            held += page
            may_be_above = may_be_above and _may_be(_shown(entries), folder.above)
            if not may_be_above:
                self.note(folder, held)
                held = []
        this = _shown(entries)
        if self.is_above(folder, entries, this):
            return []
        self.note(folder, held)
        return self.subfolders(folder, entries, this)

    def is_above(self, folder: Folder, entries: Sequence[Entry], this: Shown) -> bool:
        """Whether a folder is taken for one of its parents; notes that it was."""
        timed = [bool(entry["modified"]) for entry in entries]
        # Names alone prove nothing; without times, only the bounds end a circle.
        if not any(timed) or folder.above.count(this) < (1 if len(this) > 1 else _ALONE):
            return False
        if all(timed):
            self.skipped.append((folder.name, _LINK))
        else:
            self.unread.append((folder.name, _GUESS))
        return True

    def note(self, folder: Folder, entries: Sequence[Entry]) -> None:
        """Note the files among these entries of a folder, and those that cannot be downloaded."""
        files = []
        for entry in entries:
            size, name = entry["bytes"], folder.path_of(entry)
            moment = datetime.fromisoformat(entry["modified"]).timestamp() if entry["modified"] else None
            file = Remote(folder.directory, name, size or 0, moment, entry.get("executable"))
            fits = file.fits(self.patterns)
            if entry.get("link") or entry.get("leftOut"):
                if fits or (size is None and Folder(folder.directory, name).may_hold(self.patterns)):
                    self.leave_out(file.name, entry, fits=fits)
            elif fits and size is not None:
                files.append(file)
        if files:
            self.files += files
            self.receive(files)

    def note_empty(self, folder: Folder) -> None:
        """Note a folder in which nothing is, unless it is an output directory."""
        if folder.path and Remote(folder.directory, folder.path, 0, None).fits(self.patterns):
            self.empty.append(folder.name)

    def subfolders(self, folder: Folder, entries: Sequence[Entry], this: Shown) -> list[Folder]:
        """The subfolders that must be listed too."""
        level = len(folder.above)
        self.count += _ALIKE if self.levels.setdefault(this, level) < level and this else 1
        folders = [
            one
            for entry in entries
            if entry["bytes"] is None and not (entry.get("link") or entry.get("leftOut"))
            if (one := Folder(folder.directory, folder.path_of(entry), (*folder.above, this))).may_hold(
                self.patterns
            )
        ]
        repeats = len(this) == 1 and folder.above.count(this) >= _ALONE
        if level < (_CHAIN if repeats else _DEEPEST):
            return folders
        # A folder with a parent's list may be a link to it, or another folder of the same name.
        self.unread += ((one.name, _DEEP.format(level)) for one in folders)
        return []

    def leave_out(self, name: str, entry: Mapping[str, Any], *, fits: bool) -> None:
        """Note an entry that cannot be downloaded."""
        kind = str(entry.get("kind") or ("link" if entry.get("link") else ""))
        if kind in _NO_FILES:
            self.skipped.append((name, _NO_FILES[kind]))
        elif kind == "unkept":
            self.unread.append((name, _UNKEPT))
        elif entry["name"].startswith(MORE):
            self.unread.append((name, _REST))
        elif fits or kind != "file":
            self.unread.append((name, _UNNAMED))


async def walk(
    api: Service,
    job_id: str,
    directories: Sequence[str],
    patterns: Sequence[str] = (),
    receive: Callable[[Sequence[Remote]], None] = lambda _: None,
) -> Tree:
    """The matching files below these output directories, level by level. Raises Unanswered.

    `receive` gets the files of each page as soon as it is read. `unread` has the folders that cannot be
    listed, and those beyond the bounds of one walk.
    """
    tree, reader = Walk(patterns, receive), Reader(api, job_id)
    ahead = deque(Folder(directory, "") for directory in directories)
    while ahead and tree.count < _MOST_FOLDERS:
        some = [ahead.popleft() for _ in range(min(len(ahead), 4 * PARALLEL))]
        async with reader.reading(some) as lists:
            for one in lists:
                ahead += await tree.take(one.folder, one.pages)
                if reason := await one.task:
                    tree.unread.append((one.folder.name, reason))
                elif not any(one.pages.all):
                    tree.note_empty(one.folder)
    if ahead:
        many = f"it and {len(ahead) - 1:,} more folders" if len(ahead) > 1 else "it"
        tree.unread.append((
            ahead[0].name,
            f"{many} were not listed, because the job has so many, or links that lead in circles; name "
            "what you want, e.g. slipway download JOB DIRECTORY/FOLDER",
        ))  # fmt: skip
    files = sorted(tree.files, key=lambda file: file.name)
    empty = tuple(sorted({*tree.empty}))
    return Tree(tuple(files), tuple(sorted(tree.skipped)), tuple(sorted(tree.unread)), empty)


def _shown(entries: Sequence[Entry]) -> Shown:
    return tuple(sorted((e["name"], e["bytes"] or 0, e["modified"] or "") for e in entries))


def _may_be(some: Shown, above: Sequence[Shown]) -> bool:
    """Whether a partly listed folder may have the same list as one of its parents."""
    return any(len(some) <= len(one) and set(some) <= set(one) for one in above)
