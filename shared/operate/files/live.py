"""live: a job with the end of its log and its new numbers, in one answer, for those who watch it. Read-only.

A caller sends the `next` of one answer with the following request, and gets what was written since. Of a log
that grows by more than one answer holds, it gets the end: `start` says what is left out.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from shared.core.caller import Caller
from shared.core.errors import EngineError, Misuse, NotAFile, NotFound
from shared.core.job import Target
from shared.core.ports import Ports
from shared.operate.detail import detail
from shared.operate.files import metrics as numbers
from shared.operate.files.attempts import attempt_of, target_of
from shared.operate.files.cursor import as_text, count, value_of
from shared.operate.files.in_time import answered, logs_of
from shared.operate.files.output import LOG_CHUNK, check_path, first_log

#: The most names of files in one answer.
MOST_NAMES = 1_000
_OUTPUT, _ERRORS = "stdout", "stderr"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Place:
    """How far a caller has come: the run, the digest of its names, a byte of each file, and its numbers."""

    run: tuple[int, int] = (0, 0)
    names: str = ""
    offsets: Mapping[str, int] = field(default_factory=dict)
    after: str = ""

    def text(self) -> str:
        """The place as URL-safe text."""
        return as_text([*self.run, self.names, dict(self.offsets), self.after])


def place_of(text: str) -> Place:
    """The place of a text; the beginning for "". Raises Misuse for other texts."""
    return value_of(text, _placed) if text else Place()


def _placed(value: Any) -> Place:
    attempt, queued, names, offsets, after = value
    positions = {str(name): count(offset) for name, offset in offsets.items()}
    return Place((count(attempt), count(queued)), str(names), positions, str(after))


@dataclass(frozen=True)
class Part:
    """Bytes of a log from `start`; `size` is that of the file."""

    file: str
    start: int
    data: bytes
    size: int

    def as_json(self) -> dict[str, Any]:
        """The part in an answer."""
        data = base64.b64encode(self.data).decode()
        return {"file": self.file, "start": self.start, "size": self.size, "data": data}


async def live(
    ports: Ports, job_id: str, after: str, who: Caller, *, file: str = "", attempt: str = "", points: str = ""
) -> dict[str, Any]:
    """The job, and what it wrote since. Raises Misuse: 400, 404, 410.

    Where its log or its numbers cannot be read, a note has the reason.
    """
    before = place_of(after)
    check_path(file)
    job = await detail(ports, job_id, who)
    stored = await attempt_of(ports, job_id, attempt, who)
    run = (stored.job.attempt, numbers.queued(stored.job))
    begun = before if before.run == run else Place(run)
    body = {"job": job, "log": [], "more": False, "restarted": bool(after) and begun is not before}
    try:
        target = target_of(stored)
    except Misuse:  # it has not run, as its state says
        return {**body, "next": begun.text()}
    notes = list[str]()
    listed = await _noted(logs_of(ports, target), notes) or ()
    sizes = {one.name: one.size for one in listed if one.size is not None}
    failing = stored.job.error_lines.file if stored.job.error_lines and not attempt else ""
    parts = await _parts(ports, target, file or failing, dict(sorted(sizes.items())), begun.offsets, notes)
    read = await _noted(numbers.metrics(ports, job_id, begun.after, who, attempt), notes)
    if read is not None:
        body |= {"metrics": numbers.as_json(read, points), "more": read.more}
    names = sorted(sizes)[:MOST_NAMES]
    digest = hashlib.sha256("\n".join(names).encode()).hexdigest()
    if digest != begun.names:
        body["files"] = names
    if any(one.start < begun.offsets.get(one.file, 0) for one in parts):
        body["restarted"] = True  # another run writes to the same file
    offsets = {**begun.offsets, **{one.file: one.start + len(one.data) for one in parts}}
    following = Place(run, digest, offsets, read.next.text() if read else begun.after)
    body |= {"next": following.text(), "log": [one.as_json() for one in parts]}
    return {**body, "note": " ".join(dict.fromkeys(notes))} if notes else body


async def _parts(
    ports: Ports,
    target: Target,
    file: str,
    sizes: Mapping[str, int],
    offsets: Mapping[str, int],
    notes: list[str],
) -> list[Part]:
    """What each of the streams has beyond its offset."""
    parts = list[Part]()
    for name in _streams(file, list(sizes)):
        part = await _noted(_part(ports, target, name, sizes.get(name, 0), offsets.get(name)), notes)
        if part is not None and (part.data or part.start < offsets.get(name, 1)):
            parts.append(part)
    return parts


def _streams(file: str, names: list[str]) -> list[str]:
    """The file that is asked for, or the first log, and the standard error of the same process."""
    output = file.replace(_ERRORS, _OUTPUT, 1)
    try:
        name = (output if output in names else file) or first_log(names)
    except NotFound:
        return [one for one in names if one.startswith(_ERRORS)][:1]
    twin = name.replace(_OUTPUT, _ERRORS, 1)
    return [name, twin] if name.startswith(_OUTPUT) and twin in names else [name]


async def _part(ports: Ports, target: Target, name: str, size: int | None, offset: int | None) -> Part | None:
    """What follows the offset, or the end of it; None for a file that is not there."""
    engine = ports.engines.get(target.engine)
    start = max(0, (size or 0) - LOG_CHUNK) if offset is None else offset
    try:
        chunk = await answered(ports, engine.read(target, "stdouterr", name, start, LOG_CHUNK))
        if chunk.size < start:
            start, chunk = 0, await answered(ports, engine.read(target, "stdouterr", name, 0, LOG_CHUNK))
        if chunk.size > chunk.next:
            start = max(start, chunk.size - LOG_CHUNK)
            chunk = await answered(ports, engine.read(target, "stdouterr", name, start, LOG_CHUNK))
    except NotFound:
        return None
    except NotAFile as error:
        raise Misuse(str(error), status=404, remedy="name a file of the log") from error
    return Part(name, start, chunk.data, chunk.size)


async def _noted(answer: Awaitable[_T], notes: list[str]) -> _T | None:
    """An answer; None where it is missing, with a note of the reason."""
    try:
        return await answer
    except EngineError as error:
        notes.append(f"{error}.")
    except Misuse as error:
        if error.status == 400:
            raise
        if error.status != 409:
            notes.append(f"{error}: {error.remedy}.")
    return None
