"""The Azure Batch engine, over its REST API. aiohttp and azure-identity are imported at the first call.

What an attempt is there is in `attempts`; what runs on the nodes is made by `launch`.
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
from shared.core.facts import NO_FACTS, ClusterFacts
from shared.core.job import Target
from shared.core.refusals import gives_none
from shared.engines.batch.abilities import abilities_of
from shared.engines.batch.attempts import Attempts
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.check import check
from shared.engines.batch.job.request import submission
from shared.engines.batch.job.site import site
from shared.engines.batch.pool import Pool
from shared.engines.batch.storage.access import Access
from shared.engines.batch.storage.records import BlobRecords
from shared.engines.batch.tasks import Tasks
from shared.engines.batch.wire.client import API, BatchClient
from shared.engines.batch.wire.sign import Key
from shared.engines.first_files import first_files
from shared.engines.launch.shown import variables
from shared.engines.recent import Lately
from shared.engines.records import Records
from shared.jobspec import JobSpec, JsonObject, Problem

#: Seconds for which what a pool says about itself is good.
_GOOD = 300.0
#: What numbers the runs of a job, as people are shown it.
_RUN = "<id of the first node of the run>"


class BatchEngine:
    """The engine port over pools of Azure Batch. `keys`: cluster → what authenticates us at its account."""

    def __init__(
        self,
        clusters: Mapping[str, BatchCluster],
        keys: Mapping[str, Key],
        *,
        containers: Mapping[str, Access] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clusters = clusters
        self._clients = {name: BatchClient(one.url, keys[name]) for name, one in clusters.items()}
        self._pools = {name: Pool(one, self._clients[name], clock) for name, one in clusters.items()}
        self._access = {name: (containers or {}).get(name) or Access(one) for name, one in clusters.items()}
        self._records = {name: self._records_of(one) for name, one in clusters.items()}
        self._lately = Lately(self.nodes, _GOOD, clock)
        self._attempts = {
            name: Attempts(
                one,
                Tasks(one, self._clients[name]),
                self._pools[name],
                self._lately,
                self._records[name],
                self._access[name],
                clock,
            )
            for name, one in clusters.items()
        }

    @property
    def version(self) -> str:
        """The version of the REST API."""
        return f"Azure Batch {API}"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """What the cluster is set up for."""
        return abilities_of(self._cluster(cluster))

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Each field that the job's cluster cannot honour."""
        properties = spec.document()["properties"]
        return tuple(check(self._cluster(properties["cluster"]["id"].rpartition("/")[2]), properties))

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """Nothing can be asked of whole nodes."""
        return gives_none("Azure Batch", resources)

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """The POST of the task."""
        return (submission(self._cluster(order.target.cluster), order),)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        return variables(site(self._cluster(order.target.cluster), order), order, _RUN)

    async def submit(self, order: Order) -> Observation | None:
        """A task in the Batch job of its cluster and priority."""
        return await self._attempts_on(order.target.cluster).submit(order)

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """One filtered list for each priority; it also scales the pool."""
        return await self._attempts_on(cluster).status(targets)

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """Name and token of each task that has not ended."""
        return await self._attempts_on(cluster).at_work()

    async def see(self, target: Target) -> Observation:
        """One attempt, by a GET of its task."""
        return await self._attempts_on(target.cluster).see(target)

    async def cancel(self, target: Target) -> None:
        """Terminate its task."""
        await self._attempts_on(target.cluster).cancel(target)

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """Delete their tasks and their records."""
        return await self._attempts_on(cluster).forget(targets)

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The files, from the nodes' shared file system where this app sees it."""
        return await first_files(self, target, directory, path)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """One page of the files of a directory, from the same file system."""
        name = self._cluster(target.cluster).name
        return await self._records[name].page(target, directory, path, after)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """At most `limit` bytes of a file from `offset` on, from the same file system."""
        name = self._cluster(target.cluster).name
        return await self._records[name].chunk(target, directory, path, offset, limit)

    async def nodes(self, cluster: str) -> ClusterView:
        """The cluster's pool with its counts of nodes."""
        return await self._pools[self._cluster(cluster).name].view()

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The facts that are configured; a pool adds none while it is silent."""
        view = await self._lately.view(self._cluster(cluster).name)
        return view.facts if view else NO_FACTS

    async def close(self) -> None:
        """Close the connections to every account."""
        for client in self._clients.values():
            await client.close()
        for access in self._access.values():
            await access.close()

    def _records_of(self, cluster: BatchCluster) -> Records | BlobRecords:
        shares = Records(cluster)
        return BlobRecords(cluster, self._access[cluster.name], shares) if cluster.blobs else shares

    def _cluster(self, name: str) -> BatchCluster:
        cluster = next((one for one in self._clusters.values() if one.name.lower() == name.lower()), None)
        if cluster is None:
            raise Misconfigured(f"no cluster {name!r} on Azure Batch is configured here")
        return cluster

    def _attempts_on(self, name: str) -> Attempts:
        return self._attempts[self._cluster(name).name]
