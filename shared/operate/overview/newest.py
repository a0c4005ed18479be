"""newest: the jobs that run, those that ended last, and how many ended in each part of the time. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from shared.answers.overview import EndedJob, EndsByTime, RunningJob
from shared.core.caller import owner_of
from shared.core.ledger.ended import Ended
from shared.core.ledger.failures import FAILURES
from shared.core.states import JobState
from shared.operate.overview.active_jobs import ActiveJob

#: Most entries of each list, about how many parts the time has, and characters of an error.
RUNNING, ENDED, PARTS, _ERROR = 12, 8, 24, 80


def running(jobs: Iterable[ActiveJob]) -> list[RunningJob]:
    """The jobs that run, the last one to begin first."""
    at_work = sorted(
        ((job, job.started) for job in jobs if job.started), key=lambda pair: pair[1], reverse=True
    )
    return [
        RunningJob(
            id=job.id,
            name=job.name,
            owner=owner_of(job) or None,
            team=job.team or None,
            cluster=job.cluster,
            nodes=job.nodes,
            gpus=job.gpus,
            since=started,
            until=job.until,
        )
        for job, started in at_work[:RUNNING]
    ]


def ended(jobs: Iterable[Ended]) -> list[EndedJob]:
    """The jobs that ended last, the last one first."""
    return [
        EndedJob(
            id=job.id,
            name=job.name,
            owner=owner_of(job) or None,
            state=job.state.value,
            at=job.at,
            ran=round(job.ran),
            error=job.error[:_ERROR] or None,
        )
        for job in sorted(jobs, key=lambda job: (job.at, job.id), reverse=True)[:ENDED]
    ]


def ends_by_time(jobs: Sequence[Ended], since: datetime, now: datetime) -> EndsByTime:
    """The ends in each hour since a moment, or in so many hours that there are about 24 parts."""
    whole = (now - since) / timedelta(hours=1)
    hours = max(1, round(whole / PARTS))
    parts = max(1, int(whole / hours))

    def counts(states: frozenset[JobState]) -> tuple[int, ...]:
        width = timedelta(hours=hours)
        number = Counter(min((job.at - since) // width, parts - 1) for job in jobs if job.state in states)
        return tuple(number[part] for part in range(parts))

    return EndsByTime(hours=hours, succeeded=counts(frozenset({JobState.SUCCEEDED})), failed=counts(FAILURES))
