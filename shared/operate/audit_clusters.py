"""audit_clusters: compares the ledger with what runs on the clusters."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shared.core.engine import Observation
from shared.core.errors import EngineError, Unreadable
from shared.core.job import JobState, Target
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import calling
from shared.operate.audit_report import GRACE, Audit, age

log = logging.getLogger(__name__)
AT_WORK = (JobState.QUEUED, JobState.RUNNING)


async def compare_clusters(ports: Ports, active: Sequence[Active], report: Audit) -> None:
    """Checks that running jobs of the ledger run on their cluster."""
    at_work = {row.target: row for row in active if row.target and row.state in AT_WORK}
    reached, observations = await _observations(ports, at_work, report)
    for target, row in at_work.items():
        observation = observations.get(target.name)
        if target.cluster not in reached:
            continue
        if observation is None:
            text = f"{row.state.value}; {target.cluster} does not know the job {target.name}"
            report.differs("cluster", row.job_id, text)
        elif observation.state.terminal and observation.ended and age(ports, observation.ended) > GRACE:
            report.differs(
                "cluster", row.job_id, f"{row.state.value}; {observation.state.value} on {target.cluster}"
            )


async def compare_strangers(ports: Ports, active: Iterable[Active], report: Audit) -> None:
    """Checks that every attempt at work on a cluster is the current one of a job that has not ended."""
    ours = {row.target.name for row in active if row.target}
    for cluster in ports.engines.clusters.values():
        try:
            async with calling(ports, cluster.engine, cluster.name, ports.policy.ask_deadline) as asks:
                at_work = await asks.at_work(cluster.name)
        except (EngineError, TimeoutError):
            report.cannot_ask(cluster.name)
            continue
        except Exception:  # a defect of one adapter hides no other cluster
            log.exception("audit: cluster %s", cluster.name)
            report.cannot_ask(cluster.name)
            continue
        for name, token in at_work.items():
            if name not in ours:
                await _compare_stranger(ports, name, token.rpartition(".")[0], cluster.name, report)


async def _compare_stranger(ports: Ports, name: str, job_id: str, cluster: str, report: Audit) -> None:
    """Reports an attempt that is at work, and that the ledger does not have at work."""
    try:
        stored = await ports.ledger.get(job_id)
    except Unreadable:
        return  # the audit reports the row
    if stored is None:
        text = f"at work on {cluster} for {job_id}, which is not recorded here"
        report.differs("cluster", name, f"{text}: does another dispatcher use this cluster?")
        return
    job = stored.job
    if job.target is not None and job.target.name == name and not job.state.terminal:
        return  # it was submitted after the list of active jobs was read
    since = (job.ended or job.due) if job.state.terminal else job.stage.at
    if age(ports, since) > GRACE:
        which = "" if job.state.terminal else " in another attempt"
        report.differs("cluster", job.id, f"{job.state.value}{which}; still at work on {cluster} as {name}")


class _Observed(NamedTuple):
    """The clusters that answered, and their observations by the name on the cluster."""

    reached: set[str]
    observations: dict[str, Observation]


async def _observations(ports: Ports, targets: Iterable[Target], report: Audit) -> _Observed:
    """Each cluster's observations of these attempts.

    A cluster that does not answer is noted in the report.
    """
    groups: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for target in targets:
        groups[target.engine, target.cluster].append(target)
    reached: set[str] = set()
    observations: dict[str, Observation] = {}
    for (engine, cluster), group in groups.items():
        try:
            async with calling(ports, engine, cluster, ports.policy.ask_deadline) as asks:
                observations |= await asks.status(cluster, group)
        except (EngineError, TimeoutError):
            report.cannot_ask(cluster)
        except Exception:
            log.exception("audit: cluster %s", cluster)
            report.cannot_ask(cluster)
        else:
            reached.add(cluster)
    return _Observed(reached, observations)
