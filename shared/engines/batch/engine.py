"""The Azure Batch engine, over its REST API. aiohttp and azure-identity are imported at the first call.

`attempts` has the attempts on a cluster; `launch` makes what runs on the nodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from shared.core.abilities import Ability
from shared.core.engine import ClusterView, Observation, Order, Submission
from shared.core.facts import NO_FACTS, Allotted, ClusterFacts
from shared.core.job import Target
from shared.core.relations.entrance import Entrance, node_of
from shared.core.relations.variables import Variable
from shared.engines.batch.abilities import abilities_of
from shared.engines.batch.account import Account
from shared.engines.batch.attempts import Attempts
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.before import with_brought
from shared.engines.batch.job.check import check
from shared.engines.batch.job.request import submission
from shared.engines.batch.job.site import site
from shared.engines.batch.pool import Pool
from shared.engines.batch.queues import Queues
from shared.engines.batch.storage.access import Access
from shared.engines.batch.storage.blob_records import BlobRecords
from shared.engines.batch.tasks import Tasks
from shared.engines.batch.wire.client import API, BatchClient
from shared.engines.batch.wire.sign import Key
from shared.engines.cluster_engine import ClusterEngine
from shared.engines.home import in_home
from shared.engines.launch.shown import variables
from shared.engines.proofs import Proofs
from shared.engines.recent import Lately
from shared.engines.shared_records import Records
from shared.jobspec import JobSpec, JsonObject, Problem

#: Seconds for which the description of a pool is recent enough.
_GOOD = 300.0
#: The run's name in paths of files, as shown to people.
_RUN = "<id of the first node of the run>"


class BatchEngine(ClusterEngine[BatchCluster, Attempts]):
    """The engine port over pools of Azure Batch. `keys`: cluster → the credential for its account."""

    SCHEDULER = "Azure Batch"

    def __init__(
        self,
        clusters: Mapping[str, BatchCluster],
        keys: Mapping[str, Key],
        *,
        containers: Mapping[str, Access] | None = None,
        accounts: Mapping[str, Account] | None = None,
        clock: Callable[[], float] = time.time,
        proofs: Proofs | None = None,
    ) -> None:
        clients = {name: BatchClient(one.url, keys[name]) for name, one in clusters.items()}
        access = {name: (containers or {}).get(name) or Access(one) for name, one in clusters.items()}
        records = {name: _records_of(one, access[name], proofs) for name, one in clusters.items()}
        account = {
            name: (accounts or {}).get(name) or Account(one, clock=clock) for name, one in clusters.items()
        }
        self._pools = {name: Pool(one, clients[name], account[name], clock) for name, one in clusters.items()}
        self._lately = Lately(self.nodes, _GOOD, clock)
        attempts = {
            name: Attempts(
                one,
                Tasks(one, clients[name]),
                Queues(one, clients[name], clock),
                self._pools[name],
                self._lately,
                records[name],
                access[name],
                clock,
            )
            for name, one in clusters.items()
        }
        super().__init__(
            clusters, attempts, records, [*clients.values(), *access.values(), *account.values()]
        )

    @property
    def version(self) -> str:
        """The version of the REST API."""
        return f"Azure Batch {API}"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """The cluster's abilities."""
        return abilities_of(self._cluster(cluster))

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """A problem for each field that the job's cluster cannot honour."""
        return (*check(*self._addressed(spec)), *in_home(spec))

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """The POST of the task."""
        return (submission(self._cluster(order.target.cluster), order),)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        cluster = self._cluster(order.target.cluster)
        return variables(site(cluster, order), with_brought(cluster, order), _RUN)

    async def submit(self, order: Order) -> Observation | None:
        """Add a task to the Batch job of the cluster and priority."""
        return await self._attempts_on(order.target.cluster).submit(order)

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """The node of a rank, and the task there."""
        return await self._attempts_on(target.cluster).entrance(target, node_of(spec, rank))

    async def nodes(self, cluster: str) -> ClusterView:
        """The cluster's pool with the counts of its nodes."""
        return await self._pools[self._cluster(cluster).name].view()

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The facts of the last view of the pool and the configured ones; none if it never answered."""
        view = await self._lately.view(self._cluster(cluster).name)
        return view.facts if view else replace(NO_FACTS, allotted=Allotted(None, None))


def _records_of(cluster: BatchCluster, access: Access, proofs: Proofs | None) -> Records | BlobRecords:
    shares = Records(cluster, proofs)
    return BlobRecords(cluster, access, shares) if cluster.blobs else shares
