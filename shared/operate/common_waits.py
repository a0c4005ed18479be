"""waits: reasons to wait that no record holds, because each is one fact for many jobs. Read-only.

A cluster that does not answer, paused submissions, a cluster that is no longer configured: writing these to
each job would cost a request each, and be outdated at once.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta

from shared.admission.pauses import standing
from shared.admission.reason import NO_ANSWER, PARKED, never_starts
from shared.admission.sentences import PAUSED, why_paused
from shared.core.errors import SlipwayError
from shared.core.job import Job, JobState, Waiting
from shared.core.ledger.entries import Pause, Reported, Silent, Standing
from shared.core.ports import Ports
from shared.core.relations.claim import WAITS_FOR_QUOTA
from shared.core.teams.teams_store import TeamsStore
from shared.core.trouble import lately
from shared.lifecycle.clusters.calling import cluster_path

log = logging.getLogger(__name__)
#: The word of jobs whose cluster does not answer.
SILENT = "ClusterSilent"
#: The wait in a cluster's own queue after which it is said that the address of a job's code ends.
_SAID_AFTER = timedelta(days=6)


async def as_they_stand(ports: Ports, jobs: Sequence[Job]) -> tuple[Job, ...]:
    """The same jobs with these reasons. Jobs that have ended stay as they are."""
    if all(job.state.terminal for job in jobs):
        return tuple(jobs)
    try:
        now = await standing(ports)
    except SlipwayError as error:
        log.warning("what holds up jobs is not known: %s", error)
        now = Standing()
    silent = _silent(ports, now.reported)
    return tuple(_one(ports, job, silent, now.pause) for job in jobs)


async def as_it_stands(ports: Ports, job: Job) -> Job:
    """The same of one job, with its place in its team's line: another point read, where it waits there."""
    (one,) = await as_they_stand(ports, [await _in_line(ports.teams, job)])
    return one


async def _in_line(teams: TeamsStore, job: Job) -> Job:
    """The job with its place among the jobs of its team, where it waits for the team's quota.

    Costs a point read for such a job, and nothing for others.
    """
    waiting = job.waiting
    if not job.needs_claim or waiting is None or waiting.word != WAITS_FOR_QUOTA:
        return job
    try:
        line = (await teams.use(job.team)).waiting
    except SlipwayError as error:
        log.warning("the line of the team %s is not known: %s", job.team, error)
        return job
    if job.id not in line:
        return job
    position = line.index(job.id) + 1
    text = f"{waiting.text}; it is number {position} in its team's line"
    placed = waiting.model_copy(update={"text": text, "position": position})
    return job.model_copy(update={"waiting": placed})


def _one(ports: Ports, job: Job, silent: Mapping[str, Silent], pause: Pause | None) -> Job:
    """The job with every reason that applies. The one to resolve first gives the code and the time."""
    if job.state.terminal:
        return job
    cluster = job.target.cluster if job.target else job.cluster
    own_cluster = ports.engines.clusters.get(cluster)
    one = silent.get(
        cluster_path(job.target.engine if job.target else own_cluster.engine if own_cluster else "", cluster)
    )
    submitted = job.state in (JobState.QUEUED, JobState.RUNNING)
    reasons = []
    if job.state is JobState.ACCEPTED and own_cluster is None:
        text = f"the cluster {cluster} is not configured: configure it again, or cancel the job"
        reasons.append(Waiting(word="ClusterNotConfigured", text=text, since=job.stage.at))
    if one is not None:
        text = f"the cluster {cluster} cannot be queried: {one.why}"
        reasons.append(Waiting(word=SILENT, text=text, since=one.since))
    if not submitted and pause is not None:
        why = why_paused(pause)
        reasons.append(Waiting(word=why.word, text=why.text, since=pause.since))
    own = job.waiting
    if own is not None and not (own.word == PAUSED or (one is not None and own.word == NO_ANSWER)):
        first = own.word == PARKED or never_starts(own)
        if reasons and submitted and not first:
            own = own.model_copy(update={"text": f"when it was last queried: {own.text}"})
        reasons.insert(0 if first else len(reasons), own)
    reasons += _code_ends(ports, job)
    if not reasons:
        return job.model_copy(update={"waiting": None})
    text = "; ".join(reason.text for reason in reasons)
    position = max(reason.position for reason in reasons)
    first_reason = reasons[0].model_copy(update={"text": text, "position": position})
    return job.model_copy(update={"waiting": first_reason})


def _code_ends(ports: Ports, job: Job) -> list[Waiting]:
    """The reason of a job that will lose its place in its cluster's queue: nodes could not fetch its code.

    An app that signs by its identity signs for a week, and only a new attempt gets a new address.
    """
    waits = job.state is JobState.QUEUED and job.code is not None and ports.snapshots.longest is not None
    if not waits or ports.clock() - job.stage.at < _SAID_AFTER:
        return []
    text = (
        "it waits in its cluster's queue for 6 days or more, and the address of its code lasts for 7: if it "
        "starts later, it gets a new attempt, at the end of the queue, which costs no retry"
    )
    return [Waiting(word="CodeEnds", text=text, since=job.stage.at)]


async def silent_clusters(ports: Ports) -> Mapping[str, Silent]:
    """Engine/cluster → since when the passes get no answer, for those queried lately."""
    try:
        return _silent(ports, (await standing(ports)).reported)
    except SlipwayError as error:
        log.warning("since when clusters are silent is not known: %s", error)
        return {}


def _silent(ports: Ports, report: Reported | None) -> Mapping[str, Silent]:
    """Clusters that do not answer, if a pass reported them lately."""
    return report.silent if report and lately("cluster", report.at, ports.clock()) else {}
