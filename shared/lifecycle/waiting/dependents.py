"""dependents: release jobs that wait for the end of others, or end those whose condition can no longer hold.

The record of a job that waits has the ids of the others. A pass has the rows of all active jobs at hand, so
it reads only those that have ended: each once, since an end never changes and the record that waits notes it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from shared.admission.active import active_jobs
from shared.admission.gates import World, reason
from shared.admission.reason import waiting
from shared.core.each import each
from shared.core.errors import SlipwayError, Unreadable
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Active, Change, packed
from shared.core.ports import Ports
from shared.core.relations.dependency import judge, verdict
from shared.core.teams.document import Quota
from shared.delivery.deliver import deliver_at_door, deliver_now
from shared.delivery.receipt_files import put_news
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.ends import end_unmet
from shared.lifecycle.transition import apply, note

log = logging.getLogger(__name__)

#: How jobs ended, by id.
Ends = Mapping[str, JobState]


class Fates(NamedTuple):
    """How jobs ended, those that have; and those of which there is no record, not even a tombstone."""

    ends: Ends
    absent: frozenset[str] = frozenset()

    @property
    def jobs(self) -> set[str]:
        """The ids of the jobs that ended and of those without a record."""
        return {*self.ends, *self.absent}


async def look_again(ports: Ports, stored: Stored) -> Stored:
    """Judge one job by its record: end it where its condition can no longer hold, note what has happened."""
    fates = await _fates_of(ports, {one.job for one in stored.job.unmet})
    change = await _decide(ports, stored, fates)
    if change is None or (applied := await apply(ports, change)) is None:
        return stored
    await put_news(ports, applied.job)
    if change.notice is not None:
        await deliver_at_door(ports, change.notice)
    return applied


async def settle(ports: Ports, rows: Sequence[Active], moved: Collection[str]) -> list[Active]:
    """Judge every job among the rows that waits for others; the new rows of those that wait for none now.

    `moved` are the jobs that may have ended since the rows were read.

    A job that ends for this reason may end others: they are judged in the same pass.
    """
    waits = {row.job_id: row for row in rows if row.after}
    active = {row.job_id for row in rows}.difference(moved)
    fates = await _fates_of(ports, {job for row in waits.values() for job in row.after} - active)
    latest: dict[str, Stored] = {}
    every: list[Change] = []
    while decisive := fates.jobs:
        concerned = [row for row in waits.values() if not decisive.isdisjoint(row.after)]
        changes = await _judged(ports, concerned, latest, fates)
        every += changes
        jobs = [change.transition.after for change in changes]
        fates = Fates({job.id: job.state for job in jobs if job.state.terminal})
    await _report(ports, every)
    return [_row_of(waits[job_id], one) for job_id, one in latest.items() if not one.job.unmet]


def _row_of(row: Active, stored: Stored) -> Active:
    """The row of a job that waits for no other one any more, with its record."""
    waits = stored.job.waiting.text if stored.job.waiting is not None else ""
    return row._replace(after=(), waits=waits, packed=packed(stored.job), etag=stored.etag)


async def ends_of(ports: Ports, job_ids: Collection[str]) -> Ends:
    """How these jobs ended, those that have. Of many, the active ones are found by one query a shard."""
    return (await _fates_of(ports, job_ids)).ends


class Outcomes(NamedTuple):
    """The records of jobs that have ended, and the ids of those that do not exist."""

    ended: list[Job]
    absent: frozenset[str]


async def ended_jobs(ports: Ports, job_ids: Collection[str]) -> list[Job]:
    """The records of these jobs, of those that have ended."""
    return (await outcomes_of(ports, job_ids)).ended


async def outcomes_of(ports: Ports, job_ids: Collection[str]) -> Outcomes:
    """What became of these jobs; nothing of those that are active or cannot be read."""
    records = await _records_of(ports, job_ids)
    ended = [job for job in records.values() if job and job.state.terminal]
    return Outcomes(ended, frozenset(name for name, job in records.items() if job is None))


async def _fates_of(ports: Ports, job_ids: Collection[str]) -> Fates:
    """What became of these jobs."""
    records = await _records_of(ports, job_ids)
    ends = {name: job.state for name, job in records.items() if job and job.state.terminal}
    return Fates(ends, frozenset(name for name, job in records.items() if job is None))


async def _records_of(ports: Ports, job_ids: Collection[str]) -> dict[str, Job | None]:
    """The records of these jobs, without active ones of many; None for those of which there is none.

    A record that cannot be read is missing here: it is there, and who waits for it goes on waiting.
    """
    unsure = set(job_ids)
    if len(unsure) > ports.ledger.shards:
        unsure -= {row.job_id for row in await active_jobs(ports.ledger)}
    records: dict[str, Job | None] = {}

    async def read(job_id: str) -> None:
        try:
            stored = await ports.ledger.get(job_id)
        except Unreadable:
            return
        records[job_id] = stored.job if stored is not None else None

    await each(sorted(unsure), read)
    return records


async def _decide(ports: Ports, stored: Stored, fates: Fates) -> Change | None:
    """What the ends of other jobs mean for one that waits; None for nothing."""
    job = stored.job
    if job.state is not JobState.ACCEPTED or not job.unmet:
        return None
    judgement = judge(job.dependencies, *fates)
    if judgement.broken is not None:
        return end_unmet(ports, stored, verdict(judgement.broken, fates.ends.get(judgement.broken.job)))
    if judgement.dependencies == job.dependencies:
        return None
    after = job.model_copy(update={"dependencies": judgement.dependencies})
    why = reason(after, World(ports.policy, ports.clock(), quotas=await quotas_of(ports, after)))
    text = why.text if why else ""
    waits = waiting(ports, job, why)
    return note(ports, stored, dependencies=judgement.dependencies, waiting=waits, message=text)


async def quotas_of(ports: Ports, job: Job) -> Mapping[str, Quota]:
    """The quota for which a job waits, for words; none where it cannot be read."""
    try:
        team = (await current_teams(ports)).teams.get(job.team) if job.needs_claim else None
    except SlipwayError:
        return {}
    return {job.team: team.quota} if team is not None and team.quota is not None else {}


async def _judged(
    ports: Ports, rows: Iterable[Active], latest: dict[str, Stored], fates: Fates
) -> list[Change]:
    """Commit what the ends mean for these jobs. Their records are put into `latest` as they are then."""

    async def one(row: Active) -> Change | None:
        try:
            return await _change(ports, row, latest, fates)
        except SlipwayError as error:
            log.warning("%s is left to the sweeper: %r", row.job_id, error, extra={"job": row.job_id})
            return None

    results = await each(rows, one)
    return [change for change in results if change is not None]


async def _change(ports: Ports, row: Active, latest: dict[str, Stored], fates: Fates) -> Change | None:
    """Change one record: as it was last known or, if that is too old by now, as it is read."""
    first_look = latest.get(row.job_id) or row.stored
    if first_look.job.state is JobState.ACCEPTED and not first_look.job.unmet:
        latest[row.job_id] = first_look  # its row says too much: another version wrote the record
        return None
    stored: Stored | None = first_look
    for _ in range(2):
        change = await _decide(ports, stored, fates) if stored is not None else None
        if change is None:
            return None
        result = await apply(ports, change)
        if result is not None:
            latest[row.job_id] = result
            return change
        stored = await ports.ledger.get(row.job_id)
    return None


async def _report(ports: Ports, changes: Sequence[Change]) -> None:
    """What people see of it: the log, STATUS and receipts, events."""

    async def put(change: Change) -> None:
        job = change.transition.after
        if job.state.terminal:
            log.info("%s is %s", job.id, job.state.value, extra={"job": job.id, "state": job.state.value})
        if job.line != change.transition.before.line:
            await put_news(ports, job)

    await each(changes, put)
    await deliver_now(ports, *(change.notice for change in changes if change.notice is not None))
