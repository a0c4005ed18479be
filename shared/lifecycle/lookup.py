"""lookup: reads records: one, active or archived, if the caller may see it; many, without unreadable ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, Unreadable
from shared.core.identity import is_job_id
from shared.core.job import Job, Stored
from shared.core.ledger.entries import Active
from shared.core.ledger.finished_jobs import Archive, FinishedJob, finished_of, location_of
from shared.core.ledger.ledger import Ledger
from shared.core.ports import Ports


async def job(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Stored:
    """One record, active or archived. Raises Misuse: 404, also if the caller may not see it; 410."""
    return await whole(ports, await _existing(ports, job_id, who))


async def changeable(ports: Ports, job_id: str, who: Caller) -> Stored:
    """The record of a job that the caller may change. Raises Misuse (404, 403)."""
    stored = await _existing(ports, job_id, who)
    who.may_change(stored.job)
    return stored


async def _existing(ports: Ports, job_id: str, who: Caller) -> Stored:
    stored = await visible(ports, job_id, who)
    if stored is None:
        raise Misuse(f"there is no job {job_id[:80]}", status=404, remedy="list the jobs: GET /api/jobs")
    return stored


async def visible(ports: Ports, job_id: str, who: Caller) -> Stored | None:
    """The record; None if the caller may not see it. An invalid id costs no request."""
    stored = await ports.ledger.get(job_id) if is_job_id(job_id) else None
    return stored if stored is not None and who.sees(stored.job) else None


async def archived(archive: Archive, job: Job) -> FinishedJob:
    """The whole archived job. Raises Unreadable, and Misuse (410) if its line is gone."""
    line = await archive.read(location_of(job))
    if line is None:
        raise Misuse(
            f"job {job.id} ended {job.state.value} and was archived, and the archive has been cleared",
            status=410,
            remedy=f"what is left of it is its receipt, if it has one: runs/{job.receipt}/receipt.json",
        )
    try:
        finished_job = finished_of(line)
        if finished_job.job.id != job.id:
            raise ValueError("the line of another job")
        return finished_job
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{job.archived} of the archive", "the line") from error


async def whole(ports: Ports, stored: Stored) -> Stored:
    """The record as it ended, even if archived. Raises Misuse (410)."""
    if not (location := stored.job.archived):
        return stored
    record = (await archived(ports.archive, stored.job)).stored
    return replace(record, job=record.job.model_copy(update={"archived": location}))


async def legible(ports: Ports, job_id: str) -> Stored | None:
    """A record; None if there is none, or it cannot be read."""
    try:
        return await ports.ledger.get(job_id)
    except Unreadable:
        return None


async def is_known(ledger: Ledger, job_id: str) -> bool:
    """Whether there is a record, readable or not."""
    try:
        return await ledger.get(job_id) is not None
    except Unreadable:
        return True


async def records(ports: Ports, active: Iterable[Active]) -> list[Job]:
    """The records of jobs that have not ended, without unreadable ones."""
    result = []
    for row in active:
        try:
            result.append(row.stored.job)
        except Unreadable:
            await legible(ports, row.job_id)  # notes the whole key, unless the row is readable by now
    return result
