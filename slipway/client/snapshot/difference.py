"""What differs between the code of a job and a folder: names, and the lines of texts."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from shared.jobspec import has_job_members
from shared.snapshots.grammar import Entry, Unreadable
from slipway.client.snapshot.members import as_on_node, folders_above
from slipway.client.snapshot.unpack import LIMIT
from slipway.client.snapshot.walk import File, Tree
from slipway.client.snapshot.words import shown_name
from slipway.failure import Failure

#: Bytes of a file whose lines are compared.
_TEXT = 1 << 18


@dataclass
class Difference:
    """The names of files, seen from the job: what the folder changed, added and removed; lines by name."""

    changed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    #: files that describe a job: the one that was submitted is not a part of its code
    documents: list[str] = field(default_factory=list)

    @property
    def is_none(self) -> bool:
        """Whether the folder is what the job runs."""
        return not (self.changed or self.added or self.removed)


def difference(
    archive: BinaryIO, tree: Tree, limit: int = LIMIT, *, from_storage: bool = False
) -> Difference:
    """Compare an archive with a folder. Raises Failure.

    `from_storage`: it was made of a container, which has neither empty folders nor a bit for programs.
    """
    result, files = Difference(), {file.name: file for file in tree.files}
    others = {**tree.links, **{f"{name}/": "" for name in tree.empty if not from_storage}}
    full = {f"{above}/" for name in (*files, *others) for above in folders_above(name.rstrip("/"))}
    try:
        for entry, data in as_on_node(archive, limit):
            if entry.name in files:
                file = files.pop(entry.name)
                _compare(entry, data, file, result, any_mode=from_storage)
            elif (entry.link or entry.name.endswith("/")) and entry.name in others:
                if others.pop(entry.name) != entry.link:
                    result.changed.append(entry.name)
            elif entry.name not in full:
                result.removed.append(entry.name)
    except Unreadable as error:
        raise Failure(f"the code cannot be read: {error}") from None
    result.documents = [] if from_storage else sorted(name for name in files if _describes_a_job(files[name]))
    result.added = sorted({*files, *others} - {*result.documents})
    return result


def _describes_a_job(file: File) -> bool:
    """Whether it is a job.json of any name, or an envelope with one."""
    if not file.name.endswith(".json") or file.size > _TEXT:
        return False
    try:
        document = json.loads(file.path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    job = document.get("spec", document) if isinstance(document, dict) else None
    return isinstance(job, dict) and has_job_members(job.get("properties"))


def _compare(entry: Entry, data: Iterator[bytes], file: File, result: Difference, *, any_mode: bool) -> None:
    try:
        with file.path.open("rb") as opened:
            if entry.size > _TEXT or file.size > _TEXT:
                same = entry.size == file.size and all(part == opened.read(len(part)) for part in data)
                before = after = b""
            else:
                before, after = b"".join(data), opened.read(_TEXT)
                same = before == after
    except OSError as error:
        raise Failure(f"{file.path} cannot be read: {error.strerror}") from None
    same_mode = any_mode or entry.executable == file.executable
    if same and not entry.link and same_mode:
        return
    result.changed.append(entry.name)
    if same and not entry.link:
        words = ("not executable", "executable")
        result.lines[entry.name] = [
            f"{words[entry.executable]} in the job, {words[file.executable]} in the folder"
        ]
    elif lines := _lines(before, after, entry.name):
        result.lines[entry.name] = lines


def _lines(before: bytes, after: bytes, name: str) -> list[str]:
    """The lines that differ; none for what is not a text."""
    if b"\0" in before + after:
        return []
    try:
        old, new = (text.decode().splitlines() for text in (before, after))
    except UnicodeDecodeError:
        return []
    shown = shown_name(name)
    return list(difflib.unified_diff(old, new, f"job/{shown}", f"folder/{shown}", lineterm=""))
