"""expectation: when a job that waits is expected to start, and its place in the line. Read-only.

For a job on a cluster it is the expectation of `slipway explain`; behind others, it is when those end at the
latest. What is not known is said to be unknown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.admission.reason import never_starts
from shared.core.engine import ClusterView
from shared.core.errors import EngineError, SlipwayError
from shared.core.facts import combined_facts
from shared.core.job import Job, JobState
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_QUOTA
from shared.core.relations.contents import WAITS_FOR_SEAT
from shared.core.relations.dependency import WAITS_FOR_JOBS
from shared.intake.explanation.forecast import Ahead, wait
from shared.operate.overview.active_jobs import ActiveJob, active_jobs, cause_of

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


async def expectation(ports: Ports, job: Job) -> Expectation | None:
    """What is expected of a job that waits; None for others, and where storage does not answer."""
    try:
        return await _expected(ports, job)
    except SlipwayError as error:
        log.warning("when %s starts is not known: %s", job.id, error)
        return None


async def _expected(ports: Ports, job: Job) -> Expectation | None:
    if job.state.terminal or job.state is JobState.RUNNING or job.cancel:
        return None
    if job.waiting is not None and never_starts(job.waiting):
        return None
    if job.slot is not None and job.due == job.slot and job.target is None:
        return Expectation(job.slot, job.slot, "its turn of the hour is then")
    others = [one for one in await active_jobs(ports, _GOOD) if one.id != job.id]
    cause = cause_of(job)
    before = [one for one in others if one.cause == cause and (one.created, one.id) < (job.created, job.id)]
    place = job.waiting.position if job.waiting and job.waiting.position else len(before) + 1
    word = cause.word if cause else ""
    if word in (WAITS_FOR_QUOTA, WAITS_FOR_SEAT):
        own = job.sweep.id if job.sweep and word == WAITS_FOR_SEAT else ""
        alike = [one for one in others if (one.sweep == own if own else one.team == job.team)]
        return _after_ends(alike, place, "sweep" if own else "team")
    if word == WAITS_FOR_JOBS:
        ids = {one.job for one in job.unmet}
        return _after_ends([one for one in others if one.id in ids], len(ids), "", place)
    if job.target is None:
        return None if job.waiting is None else Expectation(None, None, "unknown", place)
    return await _on_cluster(ports, job, job.target.cluster, others, place)


def _after_ends(jobs: Sequence[ActiveJob], number: int, whose: str, place: int = 0) -> Expectation:
    """The start after so many of these jobs have ended: each by its time limit at the latest."""
    ends = sorted(job.until for job in jobs if job.until is not None)
    latest = ends[number - 1] if number <= len(ends) else None
    what = f"so many jobs of its {whose} have ended" if whose else "the jobs that it waits for have ended"
    by = "by their time limits" if latest else "when that is, is not known"
    return Expectation(None, latest, f"it starts after {what}: {by}", place or number)


async def _on_cluster(
    ports: Ports, job: Job, cluster: str, others: Sequence[ActiveJob], place: int
) -> Expectation:
    """The forecast of explain, from when it began to wait for the cluster."""
    same = [one for one in others if one.cluster == cluster]
    running = sum(one.state is JobState.RUNNING for one in same)
    queued = sum(
        one.state is not JobState.RUNNING and one.most is not None and one.created < job.created
        for one in same
    )
    forecast = wait(max(1, job.nodes), await _view(ports, cluster), Ahead(queued, running))
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
