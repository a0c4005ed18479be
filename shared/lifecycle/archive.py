"""archive: after the retention, a record goes into the archive, and leaves a tombstone in its place.

First its cluster forgets the job (`forget`); until it has, the record stays where it is.
The line is written before the record goes, and the record goes in the one transaction that puts the
tombstone there; so a crash in between leaves a line too many, never one too few. The key of the
record is taken at every moment: a duplicate joins the record before, and the tombstone after, however late.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime

from shared.core.each import each
from shared.core.errors import Unreadable
from shared.core.ledger.finished_jobs import FinishedJob, line_locations, line_of, tombstone
from shared.core.ports import Ports
from shared.lifecycle.forget import forget
from shared.lifecycle.job_sweeps.bury import bury_sweeps
from shared.lifecycle.teams.claims import free_ended

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Archived:
    """What one run did, in numbers for the log."""

    jobs: int
    blobs: int


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
    return Archived(jobs, sum(one.blobs for one in results))


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
