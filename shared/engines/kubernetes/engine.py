"""The Kubernetes engine, over the API server. aiohttp is imported at the first call.

`attempts` has the attempts on a cluster; `launch` makes what runs in the pods.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from shared.core.abilities import Ability
from shared.core.engine import ClusterView, Observation, Order, Submission
from shared.core.facts import ClusterFacts
from shared.core.job import Target
from shared.core.relations.entrance import Entrance, node_of
from shared.core.relations.variables import Variable
from shared.engines.cluster_engine import ClusterEngine
from shared.engines.home import in_home
from shared.engines.kubernetes.abilities import abilities_of
from shared.engines.kubernetes.attempts import Attempts
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.check import check
from shared.engines.kubernetes.job.request import belongings, job
from shared.engines.kubernetes.job.site import site
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.version import NEWEST
from shared.engines.launch.shown import variables
from shared.engines.proofs import Proofs
from shared.engines.shared_records import Records
from shared.jobspec import JobSpec, JsonObject, Problem

#: The run's name in paths of files, as shown to people.
_RUN = "<uid of the first pod of the run>"


class KubernetesEngine(ClusterEngine[KubernetesCluster, Attempts]):
    """The engine port over namespaces of Kubernetes. `clients`: cluster → its API server."""

    SCHEDULER = "Kubernetes"

    def __init__(
        self,
        clusters: Mapping[str, KubernetesCluster],
        clients: Mapping[str, KubernetesClient],
        *,
        clock: Callable[[], float] = time.time,
        proofs: Proofs | None = None,
    ) -> None:
        records = {name: Records(one, proofs) for name, one in clusters.items()}
        attempts = {
            name: Attempts(one, clients[name], records[name], clock) for name, one in clusters.items()
        }
        super().__init__(clusters, attempts, records, clients.values())

    @property
    def version(self) -> str:
        """The version of the API for Jobs."""
        return "Kubernetes batch/v1"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """The cluster's abilities."""
        return abilities_of(self._cluster(cluster))

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """A problem for each field that the job's cluster cannot honour."""
        return (*check(*self._addressed(spec)), *in_home(spec))

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """POST of the Job, as current servers get it, and of the objects that belong to it."""
        cluster = self._cluster(order.target.cluster)
        return (job(cluster, order, NEWEST), *belongings(cluster, order))

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        return variables(site(self._cluster(order.target.cluster), order), order, _RUN)

    async def submit(self, order: Order) -> Observation | None:
        """Create a Job, and the Secret that its pods wait for."""
        return await self._attempts_on(order.target.cluster).submit(order)

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """The pod of a rank."""
        return await self._attempts_on(target.cluster).entrance(target, node_of(spec, rank))

    async def nodes(self, cluster: str) -> ClusterView:
        """The nodes for the cluster's jobs, if Slipway's account may list them."""
        return await self._attempts_on(cluster).nodes()

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The configured facts: a cluster that grows does not report its maximum."""
        return self._cluster(cluster).facts
