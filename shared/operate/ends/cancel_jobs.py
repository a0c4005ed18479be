"""cancel_jobs: asks for the end of all jobs that fit, if they are as many as the caller expects.

Each job keeps the code of the request that asked first for its end. So a repetition of a request whose answer
was lost counts the jobs of the first try, and goes on with the others, but with none that came after it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.answers.cancelled import CancelledJob, CancelledJobs, KeptJob
from shared.core.caller import Caller
from shared.core.each import each
from shared.core.errors import Misuse, SlipwayError, quoted
from shared.core.job import Job
from shared.core.ledger.listing import Query
from shared.core.ports import Ports
from shared.operate.ends.cancel import cancel
from shared.operate.listing import ACTIVE, selected

#: The conditions of a list of jobs that have not ended.
CONDITIONS = (
    *("state", "name", "experiment", "label", "cluster", "source", "owner", "team", "sweep"),
    *("contains", "since", "until"),
)
#: Most jobs of one request, most that are counted, and the seconds in which it asks for their ends.
MOST, COUNTED, PATIENCE = 500, 10_000, 40.0
#: For how long a repetition counts the jobs of the first try that have ended.
_REPEATED = timedelta(hours=1)
#: The remedy for too many.
FEWER = "name more conditions, such as `until` for the oldest ones first"
_EXAMPLE = 'send {"conditions": {"owner": "ann", "state": "active"}, "expected": 3}'


class Request(NamedTuple):
    """What a caller wants: the ends of as many jobs as they expect to fit."""

    conditions: Mapping[str, str]
    expected: int

    def code(self, who: Caller, key: str | None) -> str:
        """The code of the request, the same for its repetitions; "" without a key."""
        if not key:
            return ""
        words = "\0".join((who.source, key, *(f"{name}={self.conditions[name]}" for name in self.conditions)))
        return hashlib.sha256(words.encode()).hexdigest()

    def __str__(self) -> str:
        """The conditions, as a person writes them."""
        return " ".join(f"{name}={value}" for name, value in self.conditions.items())


class NotEnded(NamedTuple):
    """A job whose end was not asked for, and why."""

    job: Job
    why: str
    #: whether only the time was short
    again: bool = False


@dataclass(frozen=True)
class Selection:
    """The jobs that fit, and those of an earlier try of the same request."""

    jobs: tuple[Job, ...]
    code: str

    def agrees(self, expected: int) -> bool:
        """Whether they are as many as expected; after a first try, some may have ended by themselves."""
        is_again = bool(self.code) and any(job.cancel_request == self.code for job in self.jobs)
        return len(self.jobs) == expected or (is_again and len(self.jobs) < expected)


@dataclass(frozen=True)
class Cancellation:
    """The jobs whose ends were asked for, and the others."""

    jobs: tuple[Job, ...]
    refused: tuple[NotEnded, ...]

    @property
    def teams(self) -> tuple[str, ...]:
        """The teams of these jobs."""
        return tuple(Counter(job.team for job in self.jobs))


def request_of(document: Mapping[str, Any]) -> Request:
    """The request of a document. Raises Misuse."""
    conditions, expected = document.get("conditions"), document.get("expected")
    if not isinstance(conditions, Mapping) or type(expected) is not int or document.keys() - Request._fields:
        raise Misuse("the body has `conditions` and `expected`, the number of jobs", remedy=_EXAMPLE)
    if unknown := [name for name in conditions if name not in CONDITIONS]:
        remedy = f"use some of: {', '.join(CONDITIONS)}"
        raise Misuse(f"there is no condition {unknown[0][:40]!r}", remedy=remedy)
    if not conditions or not all(isinstance(value, str) and value for value in conditions.values()):
        raise Misuse("`conditions` has at least one, and each is a text", remedy=_EXAMPLE)
    return Request(dict(sorted(conditions.items())), expected)


async def select(ports: Ports, request: Request, who: Caller, code: str, counted: int = COUNTED) -> Selection:
    """The jobs that the caller sees and that fit. Raises Misuse, also for more than are counted."""
    query = selected(ports, request.conditions, who)
    if query is None:
        return Selection((), code)
    if query.states - ACTIVE:
        remedy = f"use active, or some of: {', '.join(sorted(ACTIVE))}"
        raise Misuse("jobs in some of these states have ended, and cannot be cancelled", remedy=remedy)
    queries = [replace(query, states=query.states or ACTIVE)]
    if code:
        own = Query(cancel_request=code, seen_by=query.seen_by)
        queries += [replace(own, states=ACTIVE)]
        queries += [replace(own, by_end=True, since=ports.clock() - _REPEATED)]
    pages = await asyncio.gather(*(ports.ledger.find(one, limit=counted, after=None) for one in queries))
    jobs = {job.id: job for page in pages for job in page.jobs}
    if pages[0].next:
        raise Misuse(f"more jobs fit than are counted ({counted:,})", status=409, remedy=FEWER)
    first_try = {job.id: _request_time(job) for job in jobs.values() if code and job.cancel_request == code}
    until = min(first_try.values(), default=ports.clock())
    remaining = [job for job in jobs.values() if job.created <= until or job.id in first_try]
    newest_first = sorted(remaining, key=lambda job: (job.created, job.id), reverse=True)
    return Selection(tuple(newest_first), code)


def _request_time(job: Job) -> datetime:
    """When the end of a job was asked for; of one that has ended, lists show only when that was."""
    return min((entry.at for entry in job.history if entry.by), default=job.history[-1].at)


async def end(ports: Ports, selection: Selection, who: Caller, patience: float = PATIENCE) -> Cancellation:
    """Ask for the end of each job that the caller may change; the sweeper repeats what a cluster misses."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience

    async def one(job: Job) -> Job | NotEnded:
        if loop.time() >= until:
            return NotEnded(job, "there was no time left for it: send the same request again", again=True)
        try:
            return (await cancel(ports, job.id, who, request=selection.code)).job
        except SlipwayError as error:
            return NotEnded(job, quoted(error))

    # The newest first, so that waiting jobs do not take the places of those that end.
    results = await each(selection.jobs, one)
    refused = tuple(one for one in results if isinstance(one, NotEnded))
    return Cancellation(tuple(one for one in results if isinstance(one, Job)), refused)


def shown(result: Cancellation) -> CancelledJobs:
    """The answer."""
    return CancelledJobs(
        jobs=tuple(CancelledJob(id=job.id, name=job.name, state=job.state.value) for job in result.jobs),
        refused=tuple(
            KeptJob(id=job.id, name=job.name, why=why, again=again or None)
            for job, why, again in result.refused
        ),
    )
