"""The Kubernetes engine, over the API of its server. aiohttp is imported at the first call.

What an attempt is there is in `attempts`; what runs in its pods is made by `launch`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from shared.core.abilities import Ability
from shared.core.engine import (
    ClusterView,
    FileChunk,
    FilePage,
    Observation,
    Order,
    OutputFile,
    Submission,
    Variable,
)
from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.core.job import Target
from shared.core.refusals import gives_none
from shared.engines.first_files import first_files
from shared.engines.kubernetes.abilities import abilities_of
from shared.engines.kubernetes.attempts import Attempts
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.check import check
from shared.engines.kubernetes.job.request import belongings, job
from shared.engines.kubernetes.job.site import site
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.version import NEWEST
from shared.engines.launch.shown import variables
from shared.engines.records import Records
from shared.jobspec import JobSpec, JsonObject, Problem

#: What numbers the runs of a job, as people are shown it.
_RUN = "<uid of the first pod of the run>"


class KubernetesEngine:
    """The engine port over namespaces of Kubernetes. `clients`: cluster → its API server."""

    def __init__(
        self,
        clusters: Mapping[str, KubernetesCluster],
        clients: Mapping[str, KubernetesClient],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clusters, self._clients = clusters, clients
        self._records = {name: Records(one) for name, one in clusters.items()}
        self._attempts = {
            name: Attempts(one, clients[name], self._records[name], clock) for name, one in clusters.items()
        }

    @property
    def version(self) -> str:
        """The version of the API that has Jobs."""
        return "Kubernetes batch/v1"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """What the cluster is set up for."""
        return abilities_of(self._cluster(cluster))

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Each field that the job's cluster cannot honour."""
        properties = spec.document()["properties"]
        return tuple(check(self._cluster(properties["cluster"]["id"].rpartition("/")[2]), properties))

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """Nothing can be asked of pods but what the cluster gives to each of them."""
        return gives_none("Kubernetes", resources)

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """POST of the Job as new servers get it, and of what belongs to it."""
        cluster = self._cluster(order.target.cluster)
        return (job(cluster, order, NEWEST), *belongings(cluster, order))

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        return variables(site(self._cluster(order.target.cluster), order), order, _RUN)

    async def submit(self, order: Order) -> Observation | None:
        """A Job, and the Secret without which no pod of it begins."""
        return await self._attempts_on(order.target.cluster).submit(order)

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """By the rows of two lists."""
        return await self._attempts_on(cluster).status(targets)

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """Name and token of each Job that has not ended."""
        return await self._attempts_on(cluster).at_work()

    async def see(self, target: Target) -> Observation:
        """One attempt, by its Job and its pods."""
        return await self._attempts_on(target.cluster).see(target)

    async def cancel(self, target: Target) -> None:
        """Suspend its Job."""
        await self._attempts_on(target.cluster).cancel(target)

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """Delete their Jobs and their records."""
        return await self._attempts_on(cluster).forget(targets)

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The files, from a volume of the pods where this app sees it."""
        return await first_files(self, target, directory, path)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """One page of the files of a directory, from the same volume."""
        name = self._cluster(target.cluster).name
        return await self._records[name].page(target, directory, path, after)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """At most `limit` bytes of a file from `offset` on, from the same volume."""
        name = self._cluster(target.cluster).name
        return await self._records[name].chunk(target, directory, path, offset, limit)

    async def nodes(self, cluster: str) -> ClusterView:
        """The nodes that its jobs may run on, where our account may list them."""
        return await self._attempts_on(cluster).nodes()

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The facts that are configured: a cluster that grows says nothing of what it may have."""
        return self._cluster(cluster).facts

    async def close(self) -> None:
        """Close the connections to every API server."""
        for client in self._clients.values():
            await client.close()

    def _cluster(self, name: str) -> KubernetesCluster:
        cluster = next((one for one in self._clusters.values() if one.name.lower() == name.lower()), None)
        if cluster is None:
            raise Misconfigured(f"no cluster {name!r} on Kubernetes is configured here")
        return cluster

    def _attempts_on(self, name: str) -> Attempts:
        return self._attempts[self._cluster(name).name]
