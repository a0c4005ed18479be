"""archive: after the retention, a record goes into the archive and leaves a tombstone in its place.

The line is written before the record goes, and the record goes in the one transaction that puts the
tombstone there; so whatever dies in between leaves a line too many and never one too few. The key of the
record is taken at every moment: a duplicate joins the record before, and the tombstone after, however late.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime

from shared.errors import Misuse, SlipwayError
from shared.finished import Finished, finished_of, line_of, place_of, places, tombstone
from shared.job import Job, Stored
from shared.ports import Ports

log = logging.getLogger(__name__)

#: How many jobs of a shard are read at once.
_PARALLEL = 16


@dataclass(frozen=True)
class Archived:
    """What one run did, in numbers for the log."""

    jobs: int
    blobs: int


async def archive(ports: Ports) -> Archived:
    """Archive what ended longer ago than the retention, in batches, within the deadline; the next goes on.

    Two at once do the work of one. Raises Unavailable.
    """
    if not ports.policy.retention:
        return Archived(0, 0)
    before = ports.clock() - ports.policy.retention
    end = asyncio.get_running_loop().time() + ports.policy.archive_deadline
    shards = range(ports.finished.shards)
    found = await asyncio.gather(*(_shard(ports, shard, before, end) for shard in shards))
    jobs = sum(one.jobs for one in found)
    if jobs:
        ports.meter.add("slipway.jobs.archived", jobs)
    return Archived(jobs, sum(one.blobs for one in found))


async def archived(ports: Ports, job: Job) -> Finished:
    """All of an archived job. Raises Misuse (410) when its line is gone, with the place of its receipt."""
    line = await ports.archive.read(place_of(job))
    if line is None:
        raise Misuse(
            f"job {job.id} ended {job.state.value} and was archived, and the archive has been cleared",
            status=410,
            remedy=f"what is left of it is its receipt, if it has one: runs/{job.receipt}/receipt.json",
        )
    return finished_of(line)


async def whole(ports: Ports, stored: Stored) -> Stored:
    """The record as it ended, also of a job that is archived. Raises Misuse (410)."""
    if not (place := stored.job.archived):
        return stored
    found = (await archived(ports, stored.job)).stored
    return replace(found, job=found.job.model_copy(update={"archived": place}))


async def _shard(ports: Ports, shard: int, before: datetime, end: float) -> Archived:
    jobs = blobs = 0
    while asyncio.get_running_loop().time() < end:
        due = await ports.finished.due(shard, before, ports.policy.archive_batch)
        moved = await _batch(ports, shard, due)
        jobs, blobs = jobs + moved, blobs + bool(moved)
        if not moved or len(due) < ports.policy.archive_batch:
            break  # what is left waits for an event that is on its way
    return Archived(jobs, blobs)


async def _batch(ports: Ports, shard: int, due: list[str]) -> int:
    """One blob of lines, then the tombstones; how many jobs are archived now."""
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(job_id: str) -> Finished | None:
        async with gate:
            try:
                return await ports.finished.gather(job_id)
            except SlipwayError:
                raise
            except Exception:
                # A record that cannot be read must not keep the others.
                log.exception("not archived: %s", job_id, extra={"job": job_id})
                return None

    found = [one for one in await asyncio.gather(*map(one, due)) if one is not None]
    if not found:
        return 0
    lines = [line_of(finished) for finished in found]
    at = places(shard, lines, found[0].job.history[-1].at)
    await ports.archive.put(at[0].name, b"".join(lines))
    buried = await asyncio.gather(
        *(ports.finished.entomb(f, tombstone(f.job, place)) for f, place in zip(found, at, strict=True))
    )
    return sum(buried)
