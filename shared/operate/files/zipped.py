"""zipped: a directory that a job wrote as one ZIP file. It has to be small: it is built in memory.

Read-only.
"""

from __future__ import annotations

import io
import unicodedata
import zipfile
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.engine import Engine
from shared.core.errors import Misuse, NotFound, Rejected
from shared.core.job import Target
from shared.core.ports import Ports
from shared.core.visible import escaped, is_askable
from shared.jobspec import quote
from shared.operate.files.attempts import target_of
from shared.operate.files.output import refusal, stored_of

#: The most left-out entries that the comment names, and bytes of the comment (ZIP allows 65,535).
_NAMED, _LONGEST_COMMENT = 100, 60_000
#: The first and last time that a ZIP file can hold.
_FIRST, _LAST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)
_MODE, _RUNS, _FOLDER = 0o100644 << 16, 0o100755 << 16, 0o40755 << 16 | 0x10
#: Why an entry is left out, by its kind, where that is not its name.
_WHY = {
    "link": "a link out of the folder",
    "nowhere": "a link that leads nowhere",
    "special": "a link to a pipe, a socket or a device",
    "above": "a link to a folder above it",
    "unkept": "its node could not upload it",
    **{kind: f"a {kind}" for kind in ("pipe", "socket", "device")},
}


@dataclass(frozen=True)
class Zipped:
    """The archive, and how many entries of the directory it lacks."""

    data: bytes
    left_out: int


class Bounds(NamedTuple):
    """The most bytes of the files, files, folders, and levels of folders; and the bytes of one read."""

    data: int = 32 << 20
    files: int = 1_000
    folders: int = 500
    levels: int = 32
    chunk: int = 4 << 20


BOUNDS = Bounds()


class _Member(NamedTuple):
    """A file: its path in the output directory, its size as listed, the time of its last change."""

    path: str
    size: int
    modified: datetime | None
    is_program: bool


@dataclass
class _Tree:
    members: list[_Member] = field(default_factory=list)
    #: links that are not followed, what is not a file, and names that cannot be requested
    left_out: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)


class _Limits(NamedTuple):
    """The bounds of one answer, and the refusal of what does not keep to them."""

    bounds: Bounds
    too_much: Callable[[str], Misuse]

    def check_size(self, size: int) -> None:
        """Raise Misuse for so many bytes of files, if that is too many."""
        if size > self.bounds.data:
            raise self.too_much(f"more than {self.bounds.data:,} bytes")

    def check_folders(self, number: int, above: str, ahead: Iterable[tuple[str, int]]) -> None:
        """Raise Misuse for so many folders, or for one of those ahead (path and level) that lies too deep."""
        if number > self.bounds.folders:
            raise self.too_much(f"more than {self.bounds.folders:,} folders, or links that lead in circles")
        deep = next((path for path, level in ahead if level > self.bounds.levels), None)
        if deep is not None:
            levels, first = self.bounds.levels, quote(above + deep, 100)
            raise self.too_much(
                f"more than {levels} levels of folders (the first is {first}), or links that lead in circles"
            )


async def _at_once(_: int) -> None:
    """Room without a bound."""


async def zipped(
    ports: Ports, job_id: str, directory: str, path: str, who: Caller = KEY_HOLDER,
    room: Callable[[int], Awaitable[None]] = _at_once, bounds: Bounds = BOUNDS, attempt: str = "",
) -> Zipped:  # fmt: skip
    """The files of an output directory, or of a folder in it, laid out as by `slipway download`.

    The same files make the same bytes. It waits for `room` for so many bytes before it reads the first file.
    Raises Misuse: 400, 404, 409; 413 if it is too large.
    """
    stored = await stored_of(ports, job_id, directory, path, who, attempt)
    folder = "/".join(part for part in path.split("/") if part not in ("", "."))
    named = f"{directory}/{folder}".rstrip("/")

    def too_much(what: str) -> Misuse:
        return Misuse(
            f"{named} has {what}, which is more than one answer may hold",
            status=413,
            remedy=f"slipway download {job_id} '{named}'",
        )

    target = target_of(stored)
    engine = ports.engines.get(target.engine)
    try:
        tree = await _tree(engine, target, directory, folder, _Limits(bounds, too_much))
        if not (tree.members or tree.left_out or tree.empty):
            raise NotFound(f"there is no file in {named}")
        await room(sum(member.size for member in tree.members))
        return await _archive(engine, target, directory, tree, _Limits(bounds, too_much))
    except (NotFound, Rejected) as error:
        raise await refusal(ports, stored, directory, str(error)) from error


async def _tree(engine: Engine, target: Target, directory: str, folder: str, limits: _Limits) -> _Tree:
    """The files below a folder, by name.

    Raises Misuse as soon as there are too many, as with circular links.
    """
    tree, ahead, folders, size, most = _Tree(), deque([(folder, 0, "")]), 0, 0, limits.bounds
    while ahead:
        path, depth, after = ahead.popleft()
        try:
            listed = await engine.page(target, directory, path or ".", after)
        except NotFound:
            if path == folder:
                raise
            tree.left_out.append(path)  # deleted since
            continue
        if listed.next:
            ahead.append((path, depth, listed.next))
        else:
            folders += 1
        if not (listed.files or listed.next or after or path == folder):
            tree.empty.append(path)
        for file in listed.files:
            name = f"{path}/{file.name}".lstrip("/")
            if file.link or file.left_out or not _is_name(file.name):
                why = _WHY.get(file.kind or ("link" if file.link else ""))
                tree.left_out.append(f"{name} ({why})" if why else name)
            elif file.size is None:
                ahead.append((name, depth + 1, ""))
            else:
                tree.members.append(_Member(name, file.size, file.modified, bool(file.executable)))
                size += file.size
        limits.check_size(size)
        if len(tree.members) > most.files:
            raise limits.too_much(f"more than {most.files:,} files")
        limits.check_folders(folders + len(ahead), f"{directory}/", [place[:2] for place in ahead])
    tree.members.sort()
    return tree


async def _archive(engine: Engine, target: Target, directory: str, tree: _Tree, limits: _Limits) -> Zipped:
    buffer, left_out, size, chunk_size = io.BytesIO(), list(tree.left_out), 0, limits.bounds.chunk
    # Not compressed: what fills a directory, such as weights and images, is compressed already.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for member in tree.members:
            try:
                first = await engine.read(target, directory, member.path, 0, chunk_size)
            except NotFound:  # deleted since, or replaced by a link
                left_out.append(member.path)
                continue
            with archive.open(_info(f"{directory}/{member.path}", member), "w") as entry:
                chunk = first
                while chunk.data:
                    size += entry.write(chunk.data)
                    limits.check_size(size)  # the job may append to the file meanwhile
                    if chunk.next >= chunk.size:
                        break
                    chunk = await engine.read(target, directory, member.path, chunk.next, chunk_size)
        for path in sorted(tree.empty):
            archive.writestr(_folder(f"{directory}/{path}/"), b"")
        archive.comment = _comment(left_out, [member.path for member in tree.members])
    return Zipped(buffer.getvalue(), len(left_out))


def _comment(left_out: Sequence[str], paths: Sequence[str]) -> bytes:
    """How many entries the file lacks, and how many names a disk may take for another, with the first."""
    lines = []
    if left_out:
        lines.append(f"{len(left_out)} entries of the directory are not in this file: {_names(left_out)}")
    if alike := _alike(paths):
        lines.append(
            f"{len(alike)} names differ from another one in case or in how letters are composed alone, and "
            f"where a disk ignores that, one file takes the other's place: {_names(alike)}"
        )
    return "\n".join(lines).encode("utf-8", "backslashreplace")[:_LONGEST_COMMENT]


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(escaped, sorted(names)[:_NAMED])) + (", …" if len(names) > _NAMED else "")


def _alike(paths: Sequence[str]) -> list[str]:
    """The paths that are another one's on a disk which ignores case and composition."""
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(_folded(path), path)
    return [path for path in paths if first[_folded(path)] != path]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _info(name: str, member: _Member) -> zipfile.ZipInfo:
    """An entry that reveals nothing about the machine that makes it."""
    moment = member.modified.astimezone(UTC).timetuple()[:6] if member.modified else _FIRST
    info = zipfile.ZipInfo(name, max(_FIRST, min(moment, _LAST)))
    info.create_system, info.external_attr = 3, _RUNS if member.is_program else _MODE
    return info


def _folder(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _FIRST)
    info.create_system, info.external_attr = 3, _FOLDER
    return info


def _is_name(name: str) -> bool:
    """Whether it is a single file name on every system."""
    return name not in ("", ".", "..") and "/" not in name and is_askable(name)
