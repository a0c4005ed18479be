"""Removes what ended attempts have left in the nodes' shared directory, with a small job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from shared.core.errors import Transient
from shared.core.job import Target
from shared.engines import leftovers
from shared.engines.launch.plan import PLAN, forgetting
from shared.engines.leftovers import FORGET
from shared.engines.shared_records import Records
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.job.resources import fields
from shared.engines.slurm.jobs import SlurmJobs
from shared.engines.slurm.translation import has_ended
from shared.engines.slurm.wire.client import SlurmClient

#: The most such jobs at once, and minutes for each.
_JOBS, _MINUTES = 16, 30
#: The resources of such a job.
_SMALL = {"cpus": 1, "memory": "256M"}
#: The options that decide where a job may run on a cluster.
_NEEDED = ("qos", "reservation", "constraint")


class Leftovers:
    """The removal of files that ended attempts left on one cluster."""

    def __init__(self, cluster: SlurmCluster, client: SlurmClient, records: Records) -> None:
        self._cluster, self._client, self._records = cluster, client, records
        self._jobs = SlurmJobs(cluster, client)

    async def remove(self, targets: Sequence[Target]) -> frozenset[str]:
        """Remove them. Returns the names of attempts that may have files left."""
        return await leftovers.remove(self._records, targets, self._send)

    async def _busy(self) -> bool:
        copies = (await self._jobs.queue()).named(FORGET)
        return sum(not has_ended(copy) for copy in copies) >= _JOBS

    async def _send(self, targets: Sequence[Target]) -> bool:
        if await self._busy():
            return False
        dialect = await self._client.agree()
        cluster = self._cluster
        plan = leftovers.removal_plan(cluster.layout, targets, cluster.ends)
        own = {name: cluster.resources[name] for name in _NEEDED if name in cluster.resources}
        job: dict[str, Any] = {
            **fields(cluster, dialect, own | _SMALL),
            "name": FORGET,
            "comment": "removes what jobs have left in the shared directory",
            "nodes": "1",
            "tasks": 1,
            "time_limit": dialect.number(_MINUTES),
            "current_working_directory": "/",
            "standard_output": "/dev/null",
            "standard_error": "/dev/null",
            "environment": dialect.environment(
                {"PATH": cluster.path, "LANG": "C.UTF-8", PLAN: json.dumps(plan)}
            ),
        }
        answer = await self._client.call("POST", "/job/submit", dialect.submission(job, forgetting()))
        if answer.number() is None:
            raise answer.full() or answer.failure() or Transient("Slurm gave no number to a submission")
        return True
