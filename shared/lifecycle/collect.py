"""collect: deletes the archives of code that no job needs, and keeps those young that some job does.

Nothing counts references: a job and its count would be in different partitions, so no transaction could
change both. In place of that an archive is *young* by its Last-Modified, and all that need it make it so:

1. Each acceptance touches the archive before it makes its record (`intake.kept_code`).
2. Here, at least once in two days, those of the active jobs and of the open job sweeps are touched, and of
   ended jobs that the archive should have by now, and does not: their cluster or a receiver is waited for.
3. What these do not name, and is older than any record that could name it, is deleted in the version that was
   listed. A touch in between changes the version, so that the archive stays.

A record that step 2 does not see was preceded by a touch. An ended job's last touch is at most two days older
than its end, so that its archive outlives its record. A crash at any step leaves an archive too many.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.core.code.record import Code, is_of_code
from shared.core.code.snapshots import Snapshot
from shared.core.each import each
from shared.core.errors import Unreadable
from shared.core.ledger.entries import Active
from shared.core.ledger.job_sweeps import JobSweeps
from shared.core.ledger.ledger import Ledger
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Ports

log = logging.getLogger(__name__)

#: An archive that is needed is touched when its last touch is so old.
_RENEWED = timedelta(days=1)
#: How much longer than a finished record its archive is kept, and how long one that no job was accepted with.
_LONGER, _UNUSED = timedelta(days=3), timedelta(days=2)
#: The most archives that one run deletes, and the most records of ended jobs that it reads in a shard.
_MOST = 1_000
#: About the bytes of a record.
_RECORD = 1_000
#: Seconds between two runs in one process.
_EVERY = 6 * 3600.0


@dataclass(frozen=True)
class Collected:
    """What one run did, in numbers for the log."""

    renewed: int = 0
    deleted: int = 0


async def collect_now_and_then(ports: Ports) -> Collected:
    """One run, unless this process did one a few hours ago. Raises Unavailable."""
    fresh = Collected()

    async def run() -> Collected:
        nonlocal fresh
        fresh = await collect(ports)
        return fresh

    await ports.memo.get("collected", ports.clock(), _EVERY, run)
    return fresh


async def collect(ports: Ports) -> Collected:
    """Renew what is needed, and delete what is not. Two at once do the work of one. Raises Unavailable."""
    needed = await _needed(ports)
    listed = [one async for one in ports.snapshots.listed() if is_of_code(one.blob)]
    now = ports.clock()
    old = [one for one in listed if one.blob in needed.blobs and now - one.modified > _RENEWED]
    await each(old, lambda one: ports.snapshots.touch(one.blob))
    if not needed.whole:
        log.warning("no code is deleted: a record that may name it cannot be read")
        return Collected(renewed=len(old))
    over = [one for one in listed if one.blob not in needed.blobs and _is_over(ports, one, now)][:_MOST]
    deleted = await each(over, lambda one: ports.snapshots.delete(one.blob, one.etag))
    return Collected(renewed=len(old), deleted=sum(deleted))


def _is_over(ports: Ports, snapshot: Snapshot, now: datetime) -> bool:
    """Whether it is older than any record that could name it."""
    if not snapshot.accepted:
        return now - snapshot.modified > _UNUSED
    return bool(ports.policy.retention) and now - snapshot.modified > ports.policy.retention + _LONGER


class _Needed(NamedTuple):
    """The archives that records name; `whole`: whether all records could be read."""

    blobs: frozenset[str]
    whole: bool


async def _needed(ports: Ports) -> _Needed:
    """The archives of active jobs, open sweeps, and records that stay too long. Raises Unavailable."""
    now, longest = ports.clock(), ports.policy.longest_delivery_wait
    shards = range(ports.ledger.shards)
    parts = await asyncio.gather(*(ports.ledger.unfinished(shard, now, longest) for shard in shards))
    rows = [row for part in parts for row in part.jobs]
    of_jobs = await off_loop(len(rows) * _RECORD, _of_jobs, rows)
    of_sweeps = await each(
        (one for part in parts for one in part.sweeps), lambda one: _of_sweep(ports.job_sweeps, one)
    )
    of_ended = await asyncio.gather(*(_of_ended(ports, shard) for shard in shards))
    needed = _joined([*of_jobs, *of_sweeps, *of_ended])
    return needed._replace(whole=needed.whole and all(part.whole for part in parts))


async def _of_ended(ports: Ports, shard: int) -> _Needed:
    """Those of records that are due for the archive. Not whole where there are more than one run reads."""
    if not ports.policy.retention:
        return _Needed(frozenset(), whole=True)
    due = await ports.finished.due_jobs(shard, ports.clock() - ports.policy.retention, _MOST)
    codes = await each(due, lambda key: _of_record(ports.ledger, key.rpartition("|")[2]))
    needed = _joined(codes)
    return needed._replace(whole=needed.whole and len(due) < _MOST)


def _joined(parts: Collection[_Needed]) -> _Needed:
    blobs: frozenset[str] = frozenset().union(*(one.blobs for one in parts))
    return _Needed(blobs, all(one.whole for one in parts))


async def _of_record(ledger: Ledger, job_id: str) -> _Needed:
    try:
        stored = await ledger.get(job_id)
    except Unreadable:
        return _Needed(frozenset(), whole=False)
    return _of_code(stored.job.code if stored is not None else None)


def _of_jobs(rows: Iterable[Active]) -> list[_Needed]:
    return [_of_job(row) for row in rows]


def _of_job(row: Active) -> _Needed:
    try:
        return _of_code(row.stored.job.code)
    except Unreadable:
        return _Needed(frozenset(), whole=False)


async def _of_sweep(job_sweeps: JobSweeps, sweep_id: str) -> _Needed:
    try:
        stored = await job_sweeps.get(sweep_id)
    except Unreadable:
        return _Needed(frozenset(), whole=False)
    return _of_code(stored.sweep.code if stored is not None else None)


def _of_code(code: Code | None) -> _Needed:
    return _Needed(frozenset({code.blob} if code is not None else ()), whole=True)
