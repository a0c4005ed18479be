"""metrics: the numbers that a job and its nodes report, from their files. Read-only.

An answer reads a bounded part of the files, in a bounded time. Its cursor shows where the next one continues.
A job that has written nothing since costs one directory list, and one byte of each other file.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.conceal import all_without_secrets
from shared.core.engine import Engine
from shared.core.errors import Misuse, NotFound
from shared.core.job import Job, JobState, Target
from shared.core.ports import Ports
from shared.delivery import receipt
from shared.operate.files.attempts import attempt_of, target_of
from shared.operate.files.cursor import START, Cursor, Position, cursor_of
from shared.operate.files.output import forgotten
from shared.operate.files.series import (
    LONGEST_LINE,
    MOST_SERIES,
    Collector,
    Points,
    Series,
    sampled,
    whole_lines,
)

#: The most bytes of one answer, and of one call of the engine.
MOST_BYTES, CHUNK = 2 << 20, 1 << 19
#: The most files of one answer, and points unless the caller asks for more.
MOST_FILES, MOST_POINTS = 32, 50_000
_POINTS, _LEAST, _MOST = 500, 4, 2000
#: Python refuses to parse numbers of several thousand digits.
_NUMBER = re.compile(r"[0-9]{0,9}")
#: Files that hold numbers only: the job's own, and that of the program on the nodes.
_OWN, _USAGE = "metrics.jsonl", "usage.jsonl"
#: The files of a job on one node, for a folder with very many names.
_USUAL = (_OWN, _USAGE, "stdout.txt", "stdout-0.txt")
_WAITS = (JobState.ACCEPTED, JobState.SUBMITTING, JobState.QUEUED)
_PRINTED = re.compile(r"stdout(?!-job_prep)[\w.-]{0,50}\.txt", re.ASCII)


@dataclass(frozen=True)
class Source:
    """A file that may have numbers, with its listed size; None if it was not listed."""

    directory: str
    path: str
    size: int | None = None

    @property
    def name(self) -> str:
        """Its name in answers and cursors."""
        return f"{self.directory}/{self.path}"


@dataclass(frozen=True)
class Metrics:
    """One answer. `more`: there is more to read now; `restarted`: earlier answers are out of date."""

    series: Mapping[Series, Points]
    next: Cursor
    more: bool
    restarted: bool = False
    #: numbers and files that were left out, because there are too many series or files
    left_out: int = 0
    files_left_out: int = 0
    #: files that were not found in time, in folders with very many names
    late: int = 0


class _Shrunk(Exception):
    """A file is shorter than the part that was read of it: another run has written it."""


@dataclass
class _Reader:
    """Reads the new lines in the files of one attempt, until the answer is full."""

    engine: Engine
    target: Target
    #: whether the job has ended, so that its files are complete
    ended: bool
    #: by the clock of the loop: until then, what has to be found first is waited for
    deadline: float
    budget: int = MOST_BYTES
    more: bool = False
    late: int = 0
    collector: Collector = field(default_factory=Collector)

    async def read(self, source: Source, position: Position) -> Position:
        """Read a file from a position. Returns the position to continue from. Raises _Shrunk."""
        _check(position, source.size)
        while source.size is None or source.size > position.offset:
            if self.budget < 2 * LONGEST_LINE:
                self.more = True
                break
            start, limit = max(0, position.offset - 1), min(CHUNK, self.budget)
            try:
                async with asyncio.timeout_at(self.deadline if source.size is None else None):
                    chunk = await self.engine.read(self.target, source.directory, source.path, start, limit)
            except NotFound:
                break
            except TimeoutError:
                self.late += 1
                break
            _check(position, chunk.size)
            self.budget -= len(chunk.data)
            at_end = chunk.next >= chunk.size
            lines = whole_lines(chunk.data, begins=not position.offset, ends=at_end and self.ended)
            position = await self._take(
                source, lines.text, replace(position, offset=start + lines.done), lines.done
            )
            if at_end or not lines.done:
                break
        return position

    async def _take(self, source: Source, text: bytes, position: Position, done: int) -> Position:
        if not done:
            return position
        wrapped = source.path not in (_OWN, _USAGE)
        # A chunk may have a hundred thousand lines, so it is parsed in a thread.
        line = await asyncio.to_thread(self.collector.add, source.name, text, position.line, wrapped=wrapped)
        return replace(position, line=line)


async def metrics(
    ports: Ports, job_id: str, after: str = "", who: Caller = KEY_HOLDER, attempt: str = ""
) -> Metrics:
    """Its numbers since an earlier answer's cursor. Raises Misuse as `attempt_of`; 409 before it ran."""
    before = cursor_of(after)
    stored = await attempt_of(ports, job_id, attempt, who)
    target, record = target_of(stored), stored.job
    run, ended = (record.attempt, queued(record)), record.state.terminal
    document = await ports.ledger.spec(job_id) or {}
    directories = [one["id"] for one in receipt.outputs(record, document)]
    engine = ports.engines.get(target.engine)
    patience, loop = ports.policy.metrics_patience, asyncio.get_running_loop()
    try:
        sources = [one async for one in _sources(engine, target, directories, loop.time() + patience)]
    except NotFound as error:
        if record.archived:
            raise forgotten(record) from error
        if ended:
            raise Misuse(str(error), status=404, remedy="list the files: …/files") from error
        sources = []
    # The job's own numbers come first, if there are too many series.
    read = sorted(sources[:MOST_FILES], key=lambda source: source.path == _USAGE)
    begun, deadline = before if before.run in (run, START.run) else START, loop.time() + patience
    try:
        answer = await _answer(_Reader(engine, target, ended, deadline), read, Cursor(run, begun.positions))
    except _Shrunk:
        begun = START
        answer = await _answer(_Reader(engine, target, ended, deadline), read, Cursor(run, {}))
    answer = replace(answer, series=_concealed(ports, record, document, answer.series))
    return replace(answer, restarted=begun is not before, files_left_out=len(sources) - len(read))


def as_json(answer: Metrics, points: str = "", most_points: int = MOST_POINTS) -> dict[str, Any]:
    """The answer as JSON, with at most this many points of each series, and of all. Raises Misuse."""
    most = int(points or _POINTS) if _NUMBER.fullmatch(points) else 0
    if not _LEAST <= most <= _MOST:
        raise Misuse(f"points must be a number from {_LEAST} to {_MOST}", remedy=f"without it: {_POINTS}")
    most = max(_LEAST, min(most, most_points // max(1, len(answer.series))))
    body = {
        "series": [
            {
                "name": series.name,
                "file": series.file,
                "axis": series.axis,
                **({} if series.rank is None else {"rank": series.rank}),
                "count": len(one.xs),
                "points": sampled(one, most),
            }
            for series, one in answer.series.items()
        ],
        "next": answer.next.text(),
        "more": answer.more,
        "restarted": answer.restarted,
    }
    notes = [f"{answer.left_out} numbers beyond {MOST_SERIES} series"] if answer.left_out else []
    notes += [f"{answer.files_left_out} files beyond {MOST_FILES}"] if answer.files_left_out else []
    notes += [f"{answer.late} files in folders with too many names to search now"] if answer.late else []
    return {**body, "note": f"left out: {', '.join(notes)}"} if notes else body


async def _answer(reader: _Reader, sources: Iterable[Source], begun: Cursor) -> Metrics:
    positions = dict(begun.positions)
    for source in sources:
        before = positions.get(source.name, Position())
        position = await reader.read(source, before)
        if position != Position():
            positions[source.name] = position
    collector = reader.collector
    following = Cursor(begun.run, positions)
    return Metrics(collector.series, following, reader.more, left_out=collector.left_out, late=reader.late)


async def _sources(
    engine: Engine, target: Target, directories: list[str], deadline: float
) -> AsyncIterator[Source]:
    """The files, the most important first, in case there are too many."""
    own = [directory for directory in directories if directory != "stdouterr"]
    for directory in own:
        yield Source(directory, _OWN)
    try:
        async with asyncio.timeout_at(deadline):
            listed = {file.name: file.size for file in await engine.files(target, "stdouterr")}
    except TimeoutError:
        for name in _USUAL:
            yield Source("stdouterr", name)
        return
    printed = sorted(filter(_PRINTED.fullmatch, listed), key=_in_order)
    for name in (_OWN, _USAGE, *printed):
        if (size := listed.get(name)) is not None:
            yield Source("stdouterr", name, size)


def _in_order(name: str) -> list[tuple[int, str]]:
    """A sort key that compares the numbers in names."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d{1,9})", name)]


def queued(job: Job) -> int:
    """The number of the history entry with which the last run of the attempt was queued."""
    own = (one for one in job.history if one.attempt == job.attempt and one.state in _WAITS)
    return max((one.sequence for one in own), default=0)


def _check(position: Position, size: int | None) -> None:
    if size is not None and size < position.offset:
        raise _Shrunk


def _concealed(
    ports: Ports, job: Job, document: Mapping[str, Any], series: Mapping[Series, Points]
) -> dict[Series, Points]:
    """The series, with the job's secrets masked in their names."""
    names = list({one.name for one in series})
    shown = dict(zip(names, all_without_secrets(ports, job, document, names), strict=True))
    return {replace(one, name=shown[one.name]): points for one, points in series.items()}
