"""Active jobs as an overview counts them: no more of each record than that needs."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.admission.reason import never_starts
from shared.core.cost.usage import Usage
from shared.core.job import Job
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_PERSON, WAITS_FOR_QUOTA
from shared.core.relations.contents import OWN_PAUSE, WAITS_FOR_SEAT
from shared.core.relations.dependency import WAITS_FOR_JOBS
from shared.core.states import JobState
from shared.lifecycle.lookup import records
from shared.operate.common_waits import as_they_stand

#: Seconds for which the jobs that were read serve every overview of this process.
GOOD = 5.0
#: Characters of a sentence; and records that are unpacked before others have their turn.
_TEXT, _AT_ONCE = 160, 100
#: The words of waits that are about no cluster, team, sweep or other job.
_OF_ALL = frozenset({"Paused", OWN_PAUSE, "HourlyTurn", "ActiveLimit"})


class Cause(NamedTuple):
    """Why a job waits: a word, and what that is about, such as a cluster, a team, a sweep or a job."""

    word: str
    subject: str
    #: whether it can never start as things stand
    never: bool


class ActiveJob(NamedTuple):
    """A job that has not ended."""

    id: str
    name: str
    state: JobState
    source: str
    team: str
    experiment: str
    sweep: str
    cluster: str
    created: datetime
    priority: str
    #: of its wait; None for a job whose wait has no known reason, and for one that runs
    cause: Cause | None
    text: str
    since: datetime
    nodes: int
    gpus: int
    #: what it may use if a cluster has it, or is being given it; None for others
    most: Usage | None
    #: when a running job began to run; None for others
    started: datetime | None
    #: when a running job reaches its time limit
    until: datetime | None
    #: since when it does nothing with what it has, and when its end is requested
    idle: tuple[datetime, datetime] | None
    #: the jobs that it waits for, and its turn of the hour: no list shows them
    unmet: tuple[str, ...]
    slot: datetime | None


async def active_jobs(ports: Ports, good: float = GOOD) -> tuple[ActiveJob, ...]:
    """Every job that has not ended, oldest first, as of so many seconds ago: a range query a shard."""
    return await ports.memo.get_or_last("overview: active", ports.clock(), good, lambda: _read(ports))


def cause_of(job: Job) -> Cause | None:
    """Why a job waits; None for a wait without a known reason, and for one that runs."""
    if (waits := job.waiting) is None or job.state is JobState.RUNNING:
        return None
    return Cause(waits.word, _subject(job, waits.word), never_starts(waits))


async def _read(ports: Ports) -> tuple[ActiveJob, ...]:
    shards = await asyncio.gather(*map(ports.ledger.active, range(ports.ledger.shards)))
    rows, jobs = [row for shard in shards for row in shard], list[Job]()
    for at in range(0, len(rows), _AT_ONCE):
        jobs += await records(ports, rows[at : at + _AT_ONCE])
        await asyncio.sleep(0)  # thousands of records take a while to unpack
    jobs = list(await as_they_stand(ports, jobs))
    return tuple(sorted(map(_active_job, jobs), key=lambda job: (job.created, job.id)))


def _active_job(job: Job) -> ActiveJob:
    waits, cause = job.waiting, cause_of(job)
    hours = timedelta(hours=job.longest) if job.longest else None
    return ActiveJob(
        job.id,
        job.name,
        job.state,
        job.source,
        job.team,
        job.experiment,
        job.sweep.id if job.sweep else "",
        job.target.cluster if job.target else job.cluster,
        job.created,
        job.priority,
        cause,
        waits.text[:_TEXT] if waits and cause else "",
        waits.since if waits and cause else job.stage.at,
        job.nodes,
        job.gpus,
        _most(job) if job.target else None,
        job.started if job.state is JobState.RUNNING else None,
        job.started + hours if job.state is JobState.RUNNING and job.started and hours else None,
        (job.idle.since, job.idle.ends) if job.idle else None,
        tuple(one.job for one in job.unmet),
        turn_of(job),
    )


def turn_of(job: Job) -> datetime | None:
    """When a job has its turn of the hour, if it waits for that."""
    return job.slot if job.due == job.slot and job.target is None else None


def _most(job: Job) -> Usage:
    """What its current attempt uses if it runs as long as it may."""
    cost = job.longest * job.rate.per_hour if job.rate else 0.0
    return Usage(1, job.longest * job.nodes * job.part, job.longest * job.gpus, cost)


def _subject(job: Job, word: str) -> str:
    """What a word is about."""
    if word in (WAITS_FOR_QUOTA, WAITS_FOR_PERSON):
        return job.team
    if word == WAITS_FOR_SEAT and job.sweep:
        return job.sweep.id
    if word == WAITS_FOR_JOBS and job.unmet:
        return job.unmet[0].job
    if word in _OF_ALL:
        return ""
    return job.target.cluster if job.target else job.cluster
