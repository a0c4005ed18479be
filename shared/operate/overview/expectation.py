"""expectation: when a job that waits is expected to start, and its place in the line. Read-only.

For a job on a cluster it is the expectation of `slipway explain`; behind others, it is when those end at the
latest. What is not known is said to be unknown.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.admission.reason import never_starts
from shared.core.engine import ClusterView
from shared.core.errors import EngineError, SlipwayError
from shared.core.facts import combined_facts
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_PERSON, WAITS_FOR_QUOTA
from shared.core.relations.contents import OWN_PAUSE, WAITS_FOR_SEAT
from shared.core.relations.dependency import WAITS_FOR_JOBS
from shared.core.relations.priority import rank
from shared.intake.explanation.forecast import Ahead, wait
from shared.operate.common_waits import SILENT
from shared.operate.overview.active_jobs import ActiveJob, Cause, active_jobs, cause_of, turn_of

log = logging.getLogger(__name__)
#: Seconds for which an answer of the ledger or a cluster serves, and in which a cluster has to answer.
_GOOD, _PATIENCE = 30.0, 2.0


class Expectation(NamedTuple):
    """When a job starts: not before, and by when; None where that is not known. `position`: 0 for none."""

    earliest: datetime | None
    latest: datetime | None
    why: str
    position: int = 0

    def as_json(self) -> dict[str, Any]:
        """As the API has it."""
        times = {"earliest": self.earliest, "latest": self.latest}
        shown = {name: at.isoformat().replace("+00:00", "Z") for name, at in times.items() if at}
        return {**shown, "why": self.why}


class _Others(NamedTuple):
    """The jobs that have not ended, by what an expectation asks of them; the first in time come first."""

    jobs: Mapping[str, ActiveJob]
    #: of those that wait, in the order of their priorities and ages
    lines: Mapping[Cause | None, Sequence[_InLine]]
    #: of those that run, when their time limits end them, by team and by sweep
    teams: Mapping[str, Sequence[datetime]]
    sweeps: Mapping[str, Sequence[datetime]]
    #: by cluster, how many run there, and when those were created that the cluster has and does not run
    running: Mapping[str, int]
    queued: Mapping[str, Sequence[datetime]]


class _InLine(NamedTuple):
    rank: int
    created: datetime
    id: str

    @classmethod
    def place_of(cls, job: Job | ActiveJob) -> _InLine:
        return cls(rank(job.priority), job.created, job.id)


async def expectation(ports: Ports, job: Job) -> Expectation | None:
    """What is expected of a job that waits; None for others, and where storage does not answer."""
    return (await expectations(ports, [job])).get(job.id)


async def expectations(ports: Ports, jobs: Sequence[Job]) -> Mapping[str, Expectation]:
    """The same of many, by their ids. For all of them what is read is read once."""
    waiting = [job for job in jobs if _is_awaited(job)]
    if not waiting:
        return {}
    try:
        turns = {job.id: _exactly(slot) for job in waiting if (slot := turn_of(job))}
        if len(turns) == len(waiting):
            return turns
        others = _sorted(await active_jobs(ports, _GOOD))
        return {job.id: one for job in waiting if (one := await _expected(ports, job, others))}
    except SlipwayError as error:
        log.warning("when %d jobs start is not known: %s", len(waiting), error)
        return {}


def _is_awaited(job: Job) -> bool:
    if job.state.terminal or job.state is JobState.RUNNING or job.cancel:
        return False
    return job.waiting is None or not never_starts(job.waiting)


def _exactly(moment: datetime) -> Expectation:
    return Expectation(moment, moment, "its turn of the hour is then")


def _sorted(jobs: Sequence[ActiveJob]) -> _Others:
    lines, running = defaultdict[Cause | None, list[_InLine]](list), Counter[str]()
    teams, sweeps, queued = (defaultdict[str, list[datetime]](list) for _ in range(3))
    for job in jobs:
        lines[job.cause].append(_InLine.place_of(job))
        if job.until is not None:
            teams[job.team].append(job.until)
            sweeps[job.sweep].append(job.until)
        if job.state is JobState.RUNNING:
            running[job.cluster] += 1
        elif job.most is not None:
            queued[job.cluster].append(job.created)
    for line in lines.values():
        line.sort()
    for ends in (*teams.values(), *sweeps.values()):
        ends.sort()
    return _Others({job.id: job for job in jobs}, lines, teams, sweeps, running, queued)


async def _expected(ports: Ports, job: Job, others: _Others) -> Expectation | None:
    own = others.jobs.get(job.id)  # it knows what no list shows
    if slot := turn_of(job) or (own.slot if own else None):
        return _exactly(slot)
    unmet = {one.job for one in job.unmet} or set(own.unmet if own else ())
    cause = cause_of(job) if job.unmet or not unmet or own is None else own.cause
    before = bisect_left(others.lines.get(cause, ()), _InLine.place_of(job))
    place = job.waiting.position if job.waiting and job.waiting.position else before + 1
    word = cause.word if cause else ""
    if word == OWN_PAUSE:
        return Expectation(None, None, "it starts after it is resumed: when that is, is not known")
    if word == WAITS_FOR_SEAT and job.sweep:
        return _after_ends(others.sweeps.get(job.sweep.id, ()), place, "sweep")
    if word == WAITS_FOR_PERSON:
        return Expectation(None, None, "it starts after another job of its person has ended", place)
    if word in (WAITS_FOR_QUOTA, WAITS_FOR_SEAT):
        return _after_ends(others.teams.get(job.team, ()), place, "team")
    if word == WAITS_FOR_JOBS:
        awaited = [others.jobs[one].until for one in unmet if one in others.jobs]
        return _after_ends(sorted(filter(None, awaited)), len(unmet) or 1, "", place)
    if job.target is None:
        return None if job.waiting is None else Expectation(None, None, "unknown", place)
    return await _on_cluster(ports, job, job.target.cluster, others, place)


def _after_ends(ends: Sequence[datetime], number: int, whose: str, place: int = 0) -> Expectation:
    """The start after so many of these have come."""
    latest = ends[number - 1] if number <= len(ends) else None
    what = f"so many jobs of its {whose} have ended" if whose else "the jobs that it waits for have ended"
    by = "by their time limits" if latest else "when that is, is not known"
    return Expectation(None, latest, f"it starts after {what}: {by}", place or number)


async def _on_cluster(ports: Ports, job: Job, cluster: str, others: _Others, place: int) -> Expectation:
    """The forecast of explain, from when it began to wait for the cluster."""
    queued = bisect_left(others.queued.get(cluster, ()), job.created)
    ahead = Ahead(queued, others.running.get(cluster, 0))
    is_silent = job.waiting is not None and job.waiting.word == SILENT
    view = None if is_silent else await _view(ports, cluster)
    forecast = wait(max(1, job.nodes), view, ahead)
    since = job.stage.at
    earliest, latest = (
        since + timedelta(seconds=forecast[end]) if forecast[end] is not None else None
        for end in ("from", "to")
    )
    if latest is not None and latest < ports.clock():
        return Expectation(None, None, f"it takes longer than expected: {forecast['reason']}", place)
    return Expectation(earliest, latest, forecast["reason"], place)


class _ViewAnswer(NamedTuple):
    """A cluster as its engine shows it; None where it did not answer in time."""

    view: ClusterView | None


async def _view(ports: Ports, name: str) -> ClusterView | None:
    cluster = ports.engines.clusters.get(name)

    async def ask() -> _ViewAnswer:
        if cluster is None:
            return _ViewAnswer(None)
        try:
            async with asyncio.timeout(_PATIENCE):
                view = await ports.engines.get(cluster.engine).nodes(name)
            return _ViewAnswer(replace(view, facts=combined_facts(cluster.facts, view.facts)))
        except (EngineError, TimeoutError):
            return _ViewAnswer(None)
        except Exception:  # a defect of one adapter hides no job
            log.exception("cluster %s cannot be shown", name)
            return _ViewAnswer(None)

    reply = await ports.memo.get_or_last(f"overview: nodes of {name}", ports.clock(), _GOOD, ask)
    return reply.view
