"""What attempts that ended have left in the directory that the nodes share, and the job that removes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shared.core.errors import Transient
from shared.core.job import Target
from shared.engines.launch.plan import PLAN, forgetting
from shared.engines.records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.resources import fields
from shared.engines.slurm.jobs import SlurmJobs
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.words import state_of

#: What such jobs are called. They have no token: nothing takes them for an attempt.
NAME = "slipway-forget"
#: Such jobs at once, attempts for each of them, and minutes that each may take.
_JOBS, _ATTEMPTS, _MINUTES = 16, 500, 30
#: What such a job gets of its node.
_SMALL = {"cpus": 1, "memory": "256M"}
#: What decides on a cluster where a job may run at all.
_NEEDED = ("qos", "reservation", "constraint")


class Leftovers:
    """The files that ended attempts left on one cluster, and their removal."""

    def __init__(self, cluster: SlurmCluster, client: SlurmClient, records: Records) -> None:
        self._cluster, self._client, self._records = cluster, client, records
        self._jobs = SlurmJobs(cluster, client)

    async def remove(self, targets: Sequence[Target]) -> frozenset[str]:
        """The names of those of which something may be left.

        Where the directory is seen from here, the next call finds what has gone. Elsewhere a job that Slurm
        took is trusted to remove what it was given.
        """
        remaining = await self._records.remaining(targets)
        candidates = list(targets) if remaining is None else remaining
        if not candidates or await self._busy():
            return _names(candidates)
        await self._send(candidates[:_ATTEMPTS])
        return _names(candidates if remaining is not None else candidates[_ATTEMPTS:])

    async def _busy(self) -> bool:
        copies = (await self._jobs.by_name()).get(NAME, ())
        return sum(not state_of(copy.states, NAME)[0].terminal for copy in copies) >= _JOBS

    async def _send(self, targets: Sequence[Target]) -> None:
        dialect = await self._client.agree()
        cluster = self._cluster
        own = {name: cluster.resources[name] for name in _NEEDED if name in cluster.resources}
        job: dict[str, Any] = {
            **fields(cluster, dialect, own | _SMALL),
            "name": NAME,
            "comment": "removes what jobs have left in the shared directory",
            "nodes": "1",
            "tasks": 1,
            "time_limit": dialect.number(_MINUTES),
            "current_working_directory": "/",
            "standard_output": "/dev/null",
            "standard_error": "/dev/null",
            "environment": dialect.environment(
                {"PATH": cluster.path, "LANG": "C.UTF-8", PLAN: json.dumps(self._plan(targets))}
            ),
        }
        answer = await self._client.call("POST", "/job/submit", dialect.submission(job, forgetting()))
        if answer.number() is None:
            raise answer.full() or answer.failure() or Transient("Slurm gave no number to a submission")

    def _plan(self, targets: Sequence[Target]) -> dict[str, Any]:
        attempts = [[self._cluster.layout.attempt(t), t.token] for t in targets]
        return {"attempts": attempts, "outputs": self._cluster.shared, "ends": self._cluster.ends}


def _names(targets: Sequence[Target]) -> frozenset[str]:
    return frozenset(target.name for target in targets)
