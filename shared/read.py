"""read: what people ask of jobs and clusters. Never changes anything."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from shared.archive import whole
from shared.caller import KEY_HOLDER, Caller
from shared.errors import EngineError, Misuse, NotFound
from shared.identity import is_job_id
from shared.job import JobState, Stored
from shared.ports import ClusterView, LogChunk, OutputFile, Page, Ports
from shared.receipt import outputs

#: Bytes of a log in one answer.
LOG_CHUNK = 1 << 18
_LARGEST_PAGE = 200
_LIMIT = re.compile(r"[0-9]{1,3}", re.ASCII)
_DIRECTORY = re.compile(r"\w{1,64}", re.ASCII)


async def job(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Stored:
    """One record, also an archived one. Raises Misuse: 404, also where the caller may not see it; 410."""
    stored = await visible(ports, job_id, who)
    if stored is None:
        raise Misuse(f"there is no job {job_id[:80]}", status=404, remedy="list the jobs: GET /api/jobs")
    return await whole(ports, stored)


async def visible(ports: Ports, job_id: str, who: Caller) -> Stored | None:
    """The record; None when the caller may see none. What cannot be the id of a job is not asked for."""
    stored = await ports.ledger.get(job_id) if is_job_id(job_id) else None
    return stored if stored is not None and who.sees(stored.job) else None


async def jobs(ports: Ports, *, states: str, limit: str, after: str | None, who: Caller = KEY_HOLDER) -> Page:
    """Newest first. `states` is a comma-separated list, or `active`; `limit` 1 to 200.

    A page holds what the caller may see of `limit` jobs, so it may be short although there is a next one.
    """
    wanted: frozenset[JobState] | None = None
    if states not in ("", "active"):
        unknown = [word for word in states.split(",") if word not in list(JobState)]
        if unknown:
            known = ", ".join(JobState)
            raise Misuse(f"there is no state {unknown[0][:40]!r}", remedy=f"use active, or some of: {known}")
        wanted = frozenset(JobState(word) for word in states.split(","))
    number = int(limit) if _LIMIT.fullmatch(limit) else 0
    if not 1 <= number <= _LARGEST_PAGE:
        raise Misuse(f"limit must be a number from 1 to {_LARGEST_PAGE}", remedy="e.g. ?limit=50")
    if states == "active":
        page = await _active(ports, number, after)
    else:
        page = await ports.ledger.find(states=wanted, limit=number, after=after)
    return replace(page, jobs=tuple(job for job in page.jobs if who.sees(job)))


async def _active(ports: Ports, limit: int, after: str | None) -> Page:
    """The jobs that have not ended, from the index rows: history costs nothing."""
    shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
    rows = sorted((row for shard in shards for row in shard), key=lambda row: row.listed)
    page = [row for row in rows if after is None or row.listed > after][: limit + 1]
    stored = await asyncio.gather(*(ports.ledger.get(row.job_id) for row in page[:limit]))
    # One may have ended between the two readings.
    found = tuple(s.job for s in stored if s is not None and not s.job.state.terminal)
    return Page(found, page[limit - 1].listed if len(page) > limit else None)


async def files(
    ports: Ports, job_id: str, directory: str, path: str, who: Caller = KEY_HOLDER
) -> tuple[OutputFile, ...]:
    """The files of an output directory. Raises Misuse (404, 409) before the job reached its cluster."""
    _check_path(path)
    if not _DIRECTORY.fullmatch(directory):
        raise Misuse("directory is no id of an output directory", remedy="use stdouterr, or such an id")
    stored = await job(ports, job_id, who)
    target = _target(stored)
    try:
        return await ports.engines.of(target.engine).files(target, directory, path)
    except NotFound as error:
        document = await ports.ledger.spec(job_id)
        known = [one["id"] for one in outputs(stored.job, document or {})]
        said, remedy = str(error), f"this job has {', '.join(known)}"
        if document is not None and directory not in known:
            said = f'no output directory "{directory}"'
        raise Misuse(said, status=404, remedy=remedy) from error


async def log(
    ports: Ports, job_id: str, file: str | None, offset: str, who: Caller = KEY_HOLDER
) -> tuple[str, LogChunk, bool]:
    """A part of a log, its file's name, and whether more may come. Empty while there is no such file yet."""
    if file is not None:
        _check_path(file)
    stored = await job(ports, job_id, who)
    target = _target(stored)
    start = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 16 else -1
    if start < 0:
        raise Misuse("offset must be a number of bytes", remedy="start at 0, go on at Slipway-Next-Offset")
    engine = ports.engines.of(target.engine)
    try:
        name = file or _first_log(await engine.files(target, "stdouterr"))
        chunk = await engine.log(target, name, start, LOG_CHUNK)
    except NotFound as error:
        if stored.job.state.terminal:
            raise Misuse(str(error), status=404, remedy="list the files: …/files") from error
        return file or "", LogChunk(b"", start), True
    return name, chunk, bool(chunk.data) or not stored.job.state.terminal


async def clusters(ports: Ports) -> list[ClusterView | tuple[str, str]]:
    """Every configured cluster as it is now, or its name and why it cannot be asked."""

    async def one(name: str) -> ClusterView | tuple[str, str]:
        cluster = ports.engines.clusters[name]
        try:
            return await ports.engines.of(cluster.engine).nodes(name)
        except EngineError as error:
            return name, str(error)

    return list(await asyncio.gather(*(one(name) for name in ports.engines.clusters)))


def _target(stored: Stored) -> Any:
    target = stored.job.target
    if target is None or stored.job.state in (JobState.REJECTED, JobState.ACCEPTED, JobState.SUBMITTING):
        raise Misuse(
            f"the job is {stored.job.state}, so no node has run it and it has no files",
            status=409,
            remedy="ask again when it is running" if not stored.job.state.terminal else "see its problems",
        )
    return target


def _check_path(path: str) -> None:
    """Raise Misuse (400) for a path that leads out of its directory, or could."""
    levels = path.split("/")
    if path.startswith("/") or ".." in levels or "\\" in path or not path.isprintable():
        raise Misuse("the path leads out of the output directory", remedy="e.g. models/best, without ..")


def _first_log(files: tuple[OutputFile, ...]) -> str:
    names = sorted(f.name for f in files if f.size is not None)
    for start in ("stdout.txt", "stdout-0", "stdout-wk-0", "stdout"):
        match = next((n for n in names if n.startswith(start) and "job_prep" not in n), None)
        if match:
            return match
    raise NotFound("there is no log yet")
