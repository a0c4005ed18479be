"""forget: before a record goes into the archive, its cluster removes what it keeps of the job's attempts.

Not earlier: while the record stands, people read the job's log and files through the cluster, and its claims
keep late copies from running. A cluster that does not answer, or has not removed everything yet, is asked
again by the next run. Its jobs wait for it a week at most, and are archived then all the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

from shared.core.errors import EngineError
from shared.core.identity import target
from shared.core.job import Job, Target
from shared.core.ledger.finished_jobs import FinishedJob
from shared.core.ports import Ports
from shared.lifecycle.clusters.calling import left_alone

log = logging.getLogger(__name__)

#: How much longer than the retention a record waits for its cluster.
_PATIENCE = timedelta(days=7)


async def forget(ports: Ports, finished_jobs: Sequence[FinishedJob]) -> list[FinishedJob]:
    """The jobs that may be archived: their cluster has nothing left of them, or they waited long enough."""
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for one in finished_jobs:
        if one.job.target is not None:
            groups[(one.job.target.engine, one.job.target.cluster)].append(one.job)
    results = await asyncio.gather(
        *(_group(ports, *cluster_key, jobs) for cluster_key, jobs in groups.items())
    )
    remaining = frozenset[str]().union(*results)
    return [one for one in finished_jobs if one.job.id not in remaining or _has_waited(ports, one.job)]


async def _group(ports: Ports, engine: str, cluster: str, jobs: Sequence[Job]) -> frozenset[str]:
    """The jobs of one cluster of which something is left there, or may be."""
    if cluster not in ports.engines.clusters:
        return frozenset()  # the cluster can no longer be reached
    attempts = [(job.id, one) for job in jobs for one in _attempts(job, engine)]
    if left_alone(ports, engine, cluster):
        return frozenset(job for job, _ in attempts)
    try:
        # Without `calling`: a cluster that is slow to forget still answers, and is swept.
        async with asyncio.timeout(ports.policy.ask_deadline):
            remaining = await ports.engines.get(engine).forget(cluster, [one for _, one in attempts])
        return frozenset(job for job, one in attempts if one.name in remaining)
    except (EngineError, TimeoutError) as error:
        log.warning("%s keeps what it has of jobs that are to be archived: %r", cluster, error)
    except Exception:
        # A defect of one adapter must not keep the jobs of other clusters from the archive.
        log.exception("%s keeps what it has of jobs that are to be archived", cluster)
    return frozenset(job for job, _ in attempts)


def _attempts(job: Job, engine: str) -> list[Target]:
    return [target(job, number, engine) for number in range(1, job.attempt + 1)]


def _has_waited(ports: Ports, job: Job) -> bool:
    waited = ports.clock() - job.history[-1].at >= ports.policy.retention + _PATIENCE
    if waited:
        log.warning("%s is archived; %s may keep something of it", job.id, job.cluster, extra={"job": job.id})
    return waited
