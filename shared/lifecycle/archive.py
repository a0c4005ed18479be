"""archive: after the retention, a record goes into the archive, and leaves a tombstone in its place.

First its cluster removes what it keeps of the job's attempts (`forget`); until it has, the record stays where
it is. Not earlier: while the record stands, people read the job's log and files through the cluster, and its
claims keep late copies from running. A cluster that does not answer, or has not removed everything yet, is
asked again by the next run. Its jobs wait for it a week at most, and are archived then all the same.
The line is written before the record goes, and the record goes in the one transaction that puts the
tombstone there; so a crash in between leaves a line too many, never one too few. The key of the
record is taken at every moment: a duplicate joins the record before, and the tombstone after, however late.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.core.each import each
from shared.core.errors import EngineError, Unreadable
from shared.core.identity import target
from shared.core.job import Job, Target
from shared.core.ledger.finished_jobs import FinishedJob, line_locations, line_of, tombstone
from shared.core.ledger.job_sweeps import FinishedSweep, line_of_sweep
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import left_alone
from shared.lifecycle.lookup import records
from shared.lifecycle.teams.claims import free_ended

log = logging.getLogger(__name__)

#: How much longer than the retention a record waits for its cluster.
_PATIENCE = timedelta(days=7)


@dataclass(frozen=True)
class Archived:
    """What one run did, in numbers for the log."""

    jobs: int
    blobs: int
    #: whether all that was due was looked at
    whole: bool = True


async def archive(ports: Ports) -> Archived:
    """Archive what ended longer ago than the retention, in batches, within the deadline; the next goes on.

    Two at once do the work of one. Raises Unavailable.
    """
    end = asyncio.get_running_loop().time() + ports.policy.archive_deadline
    await free_ended(ports)  # before the records go that say what their jobs used
    if not ports.policy.retention:
        return Archived(0, 0)
    before = ports.clock() - ports.policy.retention
    shards = range(ports.finished.shards)
    results = await asyncio.gather(*(_shard(ports, shard, before, end) for shard in shards))
    # Job sweeps are archived in the same way.
    await asyncio.gather(*(bury_sweeps(ports, shard, before, end) for shard in shards))
    jobs = sum(one.jobs for one in results)
    if jobs:
        ports.meter.add("slipway.jobs.archived", jobs)
    whole = asyncio.get_running_loop().time() < end
    return Archived(jobs, sum(one.blobs for one in results), whole)


async def _shard(ports: Ports, shard: int, before: datetime, end: float) -> Archived:
    jobs = blobs = 0
    after = ""
    while asyncio.get_running_loop().time() < end:
        due = await ports.finished.due_jobs(shard, before, ports.policy.archive_batch, after)
        moved = await _batch(ports, shard, [key.rpartition("|")[2] for key in due])
        jobs, blobs = jobs + moved, blobs + bool(moved)
        if len(due) < ports.policy.archive_batch:
            break
        after = due[-1]  # earlier rows wait for an event to be delivered, or cannot be read
    return Archived(jobs, blobs)


async def _batch(ports: Ports, shard: int, due: list[str]) -> int:
    """One blob of lines, then the tombstones. Returns how many jobs were archived."""

    async def one(job_id: str) -> FinishedJob | None:
        try:
            return await ports.finished.gather(job_id)
        except Unreadable:
            return None  # the record stays where it is, and must not keep the others

    whole = [one for one in await each(due, one) if one is not None]
    forgotten = await forget(ports, whole)
    if not forgotten:
        return 0
    lines = [line_of(finished) for finished in forgotten]
    at = line_locations(shard, lines, forgotten[0].job.history[-1].at)
    await ports.archive.put(at[0].name, b"".join(lines))
    buried = await asyncio.gather(
        *(
            ports.finished.entomb(f, tombstone(f.job, location))
            for f, location in zip(forgotten, at, strict=True)
        )
    )
    return sum(buried)


async def forget(ports: Ports, finished_jobs: Sequence[FinishedJob]) -> list[FinishedJob]:
    """The jobs that may be archived: their cluster has nothing left of them, or they waited long enough.

    Not those from whose saved files an active job goes on, which has to copy them yet.
    """
    needed = await _resumed(ports) if finished_jobs else frozenset()
    finished_jobs = [one for one in finished_jobs if one.job.id not in needed]
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for one in finished_jobs:
        if one.job.target is not None:
            groups[(one.job.target.engine, one.job.target.cluster)].append(one.job)
    results = await asyncio.gather(
        *(_group(ports, *cluster_key, jobs) for cluster_key, jobs in groups.items())
    )
    remaining = frozenset[str]().union(*results)
    return [one for one in finished_jobs if one.job.id not in remaining or _has_waited(ports, one.job)]


async def _resumed(ports: Ports) -> frozenset[str]:
    rows = await asyncio.gather(*map(ports.ledger.active, range(ports.ledger.shards)))
    active = await records(ports, [row for shard in rows for row in shard])
    return frozenset(job.resumes for job in active if job.resumes)


async def _group(ports: Ports, engine: str, cluster: str, jobs: Sequence[Job]) -> frozenset[str]:
    """The jobs of one cluster of which something is left there, or may be."""
    if cluster not in ports.engines.clusters:
        return frozenset()  # the cluster can no longer be reached
    attempts = [(job.id, one) for job in jobs for one in _attempts(job, engine)]
    if left_alone(ports, engine, cluster):
        return frozenset(job for job, _ in attempts)
    try:
        # Without `calling`: a cluster that is slow to forget still answers, and no pass leaves it out.
        async with asyncio.timeout(ports.policy.ask_deadline):
            remaining = await ports.engines.get(engine).forget(cluster, [one for _, one in attempts])
        return frozenset(job for job, one in attempts if one.name in remaining)
    except (EngineError, TimeoutError) as error:
        log.warning("%s keeps what it has of jobs that are to be archived: %r", cluster, error)
    except Exception:
        # A defect of one adapter must not keep the jobs of other clusters from the archive.
        log.exception("%s keeps what it has of jobs that are to be archived", cluster)
    return frozenset(job for job, _ in attempts)


def _attempts(job: Job, engine: str) -> list[Target]:
    return [target(job, number, engine) for number in range(1, job.attempt + 1)]


def _has_waited(ports: Ports, job: Job) -> bool:
    waited = ports.clock() - job.history[-1].at >= ports.policy.retention + _PATIENCE
    if waited:
        log.warning("%s is archived; %s may keep something of it", job.id, job.cluster, extra={"job": job.id})
    return waited


async def bury_sweeps(ports: Ports, shard: int, before: datetime, end: float) -> int:
    """Archive the sweeps of a shard that ended before that time, until the loop's clock reaches `end`.

    Returns how many.
    """
    number, after = 0, ""
    while asyncio.get_running_loop().time() < end:
        due = await ports.job_sweeps.due(shard, before, ports.policy.archive_batch, after)
        number += await _batch_of_sweeps(ports, shard, [key.rpartition("|")[2] for key in due])
        if len(due) < ports.policy.archive_batch:
            break
        after = due[-1]  # earlier rows wait for an event to be delivered, or cannot be read
    return number


async def _batch_of_sweeps(ports: Ports, shard: int, due: list[str]) -> int:
    whole = [one for one in [await _legible(ports, sweep_id) for sweep_id in due] if one is not None]
    if not whole:
        return 0
    lines = [line_of_sweep(one) for one in whole]
    first = whole[0].stored.sweep
    locations = line_locations(shard, lines, first.ended or first.created)
    await ports.archive.put(locations[0].name, b"".join(lines))
    buried = [
        await ports.job_sweeps.entomb(one, one.stored.sweep.tombstone(str(location)))
        for one, location in zip(whole, locations, strict=True)
    ]
    return sum(buried)


async def _legible(ports: Ports, sweep_id: str) -> FinishedSweep | None:
    try:
        return await ports.job_sweeps.gather(sweep_id)
    except Unreadable:
        return None  # the record stays where it is, and must not keep the others
