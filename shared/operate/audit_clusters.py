"""audit_clusters: compares the ledger with what runs on the clusters."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shared.core.engine import Observation
from shared.core.errors import EngineError
from shared.core.job import Job, JobState, Target
from shared.core.ledger.entries import Active
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.lookup import is_known
from shared.operate.audit_report import GRACE, Audit, age

log = logging.getLogger(__name__)
AT_WORK = (JobState.QUEUED, JobState.RUNNING)


async def compare_clusters(
    ports: Ports, active: Sequence[Active], ended: Sequence[Job], report: Audit
) -> None:
    """Checks that running jobs of the ledger run on their cluster, and ended ones run nowhere."""
    at_work = {row.target: row for row in active if row.target and row.state in AT_WORK}
    over = {job.target: job for job in ended if job.target and age(ports, job.ended or job.due) > GRACE}
    reached, observations = await _observations(ports, (*at_work, *over), report)
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
    for target, job in over.items():
        observation = observations.get(target.name)
        if observation is not None and not observation.state.terminal:
            text = f"{job.state.value}; still {observation.state.value} on {target.cluster} as {target.name}"
            report.differs("cluster", job.id, text)


async def compare_strangers(ports: Ports, active: Iterable[Active], report: Audit) -> None:
    """Checks that every attempt on a cluster with our token has a record."""
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
            job_id = token.rpartition(".")[0]
            if name not in ours and not await is_known(ports.ledger, job_id):
                text = f"at work on {cluster.name} for {job_id}, which is not recorded here"
                report.differs("cluster", name, f"{text}: does another dispatcher use this cluster?")


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
