"""Every file below the output directories of a job, listed folder by folder through the API."""

import asyncio
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import Any

from fence.names import MORE
from slipway.client.files.output import PARALLEL
from slipway.client.files.remote import Remote
from slipway.client.patience import patiently
from slipway.client.refusal import Unanswered
from slipway.client.service import Service
from slipway.failure import Failure

#: Folders in one walk. One that lists the same as another above its level may be that folder by a link of the
#: job, and links may form a mesh without an end: it counts as so many.
_MOST_FOLDERS, _ALIKE, _DEEPEST = 20_000, 20, 64
#: A folder that lists the same as one around it is that folder; with one entry it may be chance, so often.
_ALONE = 8
_LINK = "it is a link to a folder above it"
_GUESS = "it lists the same as a folder above it, so it was taken for a link to that, and not read"
_REST = (
    "the others are not listed, and still where the job wrote them; copy them from that share or container, "
    "or let the job write fewer files into one folder"
)
_DEEP = (
    f"it lies more than {_DEEPEST} folders deep, so neither it nor what is in it was read, unless it is a "
    "link to a folder above it; copy it from the share or container that the job wrote it to"
)
_UNNAMED = "its name cannot be asked for"
#: What holds no bytes to save, by what a list calls it.
_NO_FILES = {
    "link": "it is a link that leads out of the job's folder",
    "pipe": "it is a pipe, not a file",
    "socket": "it is a socket, not a file",
    "device": "it is a device, not a file",
    "other": "it is no file, but a pipe, a socket, a device, or a link that leads out of the job's folder",
}
#: A part of a pattern: a set of characters, or one character.
_PART = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)
#: What a list shows of a folder.
Shown = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Tree:
    """The files of a job; links that were not followed and folders that could not be listed, with reasons."""

    files: tuple[Remote, ...]
    skipped: tuple[tuple[str, str], ...]
    unread: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Folder:
    directory: str
    path: str
    above: tuple[Shown, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.directory}/{self.path}".rstrip("/")

    def may_hold(self, patterns: Sequence[str]) -> bool:
        """Whether a file that fits one of the patterns may lie in it or below it."""
        return not (patterns and self.path) or any(
            _may_begin(path, pattern) for pattern in patterns for path in (self.name, self.path)
        )


@dataclass
class _Walk:
    patterns: Sequence[str] = ()
    files: list[Remote] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    #: the level on which each list was seen first
    levels: dict[Shown, int] = field(default_factory=dict)
    count: int = 0

    def take(self, folder: _Folder, entries: Sequence[dict[str, Any]]) -> list[_Folder]:
        """Note the files of a folder; the folders in it that are to be listed."""
        this = tuple(sorted((e["name"], e["bytes"] or 0, e["modified"] or "") for e in entries))
        timed = [bool(entry["modified"]) for entry in entries]
        # Names alone prove nothing: then only the bounds end a circle.
        if any(timed) and folder.above.count(this) >= (1 if len(this) > 1 else _ALONE):
            if all(timed):
                self.skipped.append((folder.name, _LINK))
            else:
                self.unread.append((folder.name, _GUESS))
            return []
        level = len(folder.above)
        self.count += _ALIKE if self.levels.setdefault(this, level) < level and this else 1
        below = []
        for entry in entries:
            name = f"{folder.path}/{entry['name']}".lstrip("/")
            fits = Remote(folder.directory, name, 0, None).fits(self.patterns)
            is_folder = entry["bytes"] is None  # or it is not known
            if not fits and not (is_folder and _Folder(folder.directory, name).may_hold(self.patterns)):
                continue
            if entry.get("link") or entry.get("leftOut"):
                self.leave_out(f"{folder.directory}/{name}", entry, fits=fits)
            elif entry["bytes"] is not None:
                moment = datetime.fromisoformat(entry["modified"]).timestamp() if entry["modified"] else None
                self.files.append(Remote(folder.directory, name, entry["bytes"], moment))
            elif level >= _DEEPEST and folder.above.count(this) >= _ALONE and folder.above[-1] != this:
                self.skipped.append((f"{folder.directory}/{name}", _GUESS))  # the same few, over and over
            elif level >= _DEEPEST:
                # A folder that lists the one around it may be a link to that, or one more of the same name.
                self.unread.append((f"{folder.directory}/{name}", _DEEP))
            else:
                below.append(_Folder(folder.directory, name, (*folder.above, this)))
        return below

    def leave_out(self, name: str, entry: Mapping[str, Any], *, fits: bool) -> None:
        """Note what the list has and no download gets."""
        kind = "link" if entry.get("link") else str(entry.get("kind") or "")
        if kind in _NO_FILES:
            self.skipped.append((name, _NO_FILES[kind]))
        elif entry["name"].startswith(MORE):
            self.unread.append((name, _REST))
        elif fits or kind != "file":
            self.unread.append((name, _UNNAMED))


async def walk(api: Service, job_id: str, directories: Sequence[str], patterns: Sequence[str] = ()) -> Tree:
    """The files below these output directories that fit, level by level. Raises Unanswered.

    What cannot be listed, and what lies beyond the bound of one walk, is in `unread`; the rest is there.
    """
    tree, gate = _Walk(patterns), asyncio.Semaphore(PARALLEL)
    ahead = deque(_Folder(directory, "") for directory in directories)

    async def entries(folder: _Folder) -> list[dict[str, Any]] | None:
        try:
            async with gate:
                return await patiently(lambda: api.files(job_id, folder.directory, folder.path or "."))
        except Unanswered:
            raise
        except Failure as error:
            tree.unread.append((folder.name, str(error)))
            return None

    while ahead and tree.count < _MOST_FOLDERS:
        some = [ahead.popleft() for _ in range(min(len(ahead), 4 * PARALLEL))]
        for folder, held in zip(some, await asyncio.gather(*map(entries, some)), strict=True):
            if held is not None:
                ahead += tree.take(folder, held)
    if ahead:
        many = f"it and {len(ahead) - 1:,} more folders" if len(ahead) > 1 else "it"
        tree.unread.append((
            ahead[0].name,
            f"{many} were not listed, because the job has so many, or links that lead in circles; name "
            "what you want, e.g. slipway download JOB DIRECTORY/FOLDER",
        ))  # fmt: skip
    files = sorted((file for file in tree.files if file.fits(patterns)), key=lambda file: file.name)
    return Tree(tuple(files), tuple(sorted(tree.skipped)), tuple(sorted(tree.unread)))


def _may_begin(folder: str, pattern: str) -> bool:
    """Whether the name of a file below a folder may match a pattern, or begin with it as with a folder."""
    if f"{folder}/".startswith(f"{pattern.rstrip('/')}/") or pattern.startswith(f"{folder}/"):
        return True
    parts = _PART.findall(pattern)
    ways = _after_stars(parts, {0})
    for letter in f"{folder}/":
        ways = _after_stars(
            parts, {at if parts[at] == "*" else at + 1 for at in ways if _takes(parts, at, letter)}
        )
    return bool(ways)


def _takes(parts: Sequence[str], at: int, letter: str) -> bool:
    return at < len(parts) and fnmatchcase(letter, parts[at])


def _after_stars(parts: Sequence[str], ways: set[int]) -> set[int]:
    """The parts that may come next: a star stands for nothing, too."""
    result: set[int] = set()
    for way in ways:
        stars = takewhile(lambda at: parts[at] == "*", range(way, len(parts)))
        result |= {way, *(at + 1 for at in stars)}
    return result
