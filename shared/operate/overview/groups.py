"""groups: jobs that wait for the same, and jobs that failed alike. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter

from shared.answers.overview import FailureGroup, IdleJob, JobMark, WaitingGroup
from shared.core.ledger.ended import Ended
from shared.core.ledger.failures import FAILURES, signature
from shared.core.relations.claim import WAITS_FOR_PERSON, WAITS_FOR_QUOTA
from shared.core.relations.contents import WAITS_FOR_SEAT
from shared.core.relations.dependency import WAITS_FOR_JOBS
from shared.core.states import JobState
from shared.operate.overview.active_jobs import ActiveJob, Cause

#: Characters of an error.
_ERROR = 160
_UNKNOWN = Cause("", "", never=False)


def waiting(
    jobs: Iterable[ActiveJob], lines: Mapping[str, Sequence[str]], every: Sequence[ActiveJob]
) -> list[WaitingGroup]:
    """Jobs that do not run by what they wait for, the largest group first.

    `lines` has ids by team, in turn; `every` has the jobs of all callers, which have what others wait for.
    """
    groups: dict[Cause, list[ActiveJob]] = {}
    for job in jobs:
        if job.state is not JobState.RUNNING:
            groups.setdefault(job.cause or _UNKNOWN, []).append(job)
    shown = (_waiting_group(cause, jobs, lines, every) for cause, jobs in groups.items())
    return sorted(shown, key=lambda group: (not group.never, -group.jobs, group.oldest.at))


def _waiting_group(
    cause: Cause, jobs: Sequence[ActiveJob], lines: Mapping[str, Sequence[str]], every: Sequence[ActiveJob]
) -> WaitingGroup:
    oldest = jobs[0]
    by_id = {job.id: job for job in jobs}
    line = lines.get(cause.subject, ()) if cause.word == WAITS_FOR_QUOTA else ()
    first = next((by_id[one] for one in line if one in by_id), oldest)
    return WaitingGroup(
        word=cause.word,
        subject=cause.subject,
        text=oldest.text,
        never=cause.never,
        jobs=len(jobs),
        oldest=JobMark(id=oldest.id, name=oldest.name, at=oldest.since),
        next=JobMark(id=first.id, name=first.name, at=first.created),
        next_by=None if cause.never else _next_by(cause, every),
    )


def _next_by(cause: Cause, every: Sequence[ActiveJob]) -> datetime | None:
    """When the first job reaches its limit that has what others wait for."""
    members = {
        WAITS_FOR_QUOTA: "team",
        WAITS_FOR_PERSON: "team",
        WAITS_FOR_SEAT: "sweep",
        WAITS_FOR_JOBS: "id",
    }
    whose = attrgetter(members.get(cause.word, "cluster"))
    limits = [job.until for job in every if job.until and whose(job) == cause.subject]
    return min(limits, default=None) if cause.subject else None


def failures(jobs: Iterable[Ended]) -> list[FailureGroup]:
    """Jobs that failed by the signature of their error, the largest group first."""
    failed = sorted((job for job in jobs if job.state in FAILURES), key=lambda job: (job.at, job.id))
    groups: dict[str, list[Ended]] = {}
    for job in failed:
        groups.setdefault(signature(job.error), []).append(job)
    shown = [
        FailureGroup(
            signature=name,
            error=alike[-1].error[:_ERROR],
            state=alike[-1].state.value,
            jobs=len(alike),
            first=JobMark(id=alike[0].id, name=alike[0].name, at=alike[0].at),
            last=JobMark(id=alike[-1].id, name=alike[-1].name, at=alike[-1].at),
        )
        for name, alike in groups.items()
    ]
    return sorted(shown, key=lambda group: (-group.jobs, -group.last.at.timestamp()))


def idle(jobs: Iterable[ActiveJob]) -> list[IdleJob]:
    """Running jobs that do nothing, the next to end first."""
    warned = [(job, *job.idle) for job in jobs if job.idle]
    shown = [IdleJob(id=job.id, name=job.name, since=since, ends_after=ends) for job, since, ends in warned]
    return sorted(shown, key=lambda one: one.ends_after)
