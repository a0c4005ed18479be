"""The Slurm engine, over slurmrestd with JWT: v0.0.38 of Slurm 22.05, v0.0.40 to v0.0.45 of 23.11 and later.

`attempts` submits jobs; `launch` makes what runs on the nodes. aiohttp is imported at the first call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from shared.core.abilities import Ability
from shared.core.engine import ClusterView, Observation, Order, Submission
from shared.core.errors import Misconfigured
from shared.core.facts import ALL, NO_FACTS, Allotted, ClusterFacts, combined_facts
from shared.core.job import Target
from shared.core.relations.entrance import Entrance
from shared.core.relations.variables import Variable
from shared.engines.cluster_engine import ClusterEngine
from shared.engines.launch.shown import variables
from shared.engines.proofs import Proofs
from shared.engines.recent import Lately
from shared.engines.shared_records import Records
from shared.engines.slurm.abilities import abilities_of
from shared.engines.slurm.attempts import Attempts
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.entrance import rank_entrance
from shared.engines.slurm.job.check import check
from shared.engines.slurm.job.chosen import Listed, absent, listings
from shared.engines.slurm.job.request import submission
from shared.engines.slurm.job.resources import merged, refusals
from shared.engines.slurm.job.share import requested
from shared.engines.slurm.job.site import site
from shared.engines.slurm.nodes import view
from shared.engines.slurm.wire.client import SlurmClient
from shared.engines.slurm.wire.dialect import DIALECTS, Dialect
from shared.engines.slurm.wire.key import Key
from shared.jobspec import JobSpec, JsonObject, Problem, iso_duration

#: Seconds for which the lists of partitions and nodes are recent enough.
_GOOD = 300.0
#: The run's name in paths of files, as shown to people.
_RUN = "<number of the Slurm job>-<times it was requeued>"
#: Views of partitions to remember.
_MOST_VIEWS = 1_000


class SlurmEngine(ClusterEngine[SlurmCluster, Attempts]):
    """The engine port over Slurm clusters. `keys`: cluster → the credential for it."""

    SCHEDULER = "Slurm"

    def __init__(
        self,
        clusters: Mapping[str, SlurmCluster],
        keys: Mapping[str, Key],
        *,
        clock: Callable[[], float] = time.time,
        dialects: Sequence[Dialect] = DIALECTS,
        proofs: Proofs | None = None,
    ) -> None:
        self._clients = {
            name: SlurmClient(one, keys[name], dialects) for name, one in clusters.items() if name in keys
        }
        self._lately = Lately(self._fetch_view, _GOOD, clock)
        #: cluster and partition → its resources in the last list
        self._listed: dict[tuple[str, str], Listed] = {}
        records = {name: Records(one, proofs) for name, one in clusters.items()}
        attempts = {
            name: Attempts(clusters[name], client, records[name], clock, self._listed)
            for name, client in self._clients.items()
        }
        super().__init__(clusters, attempts, records, self._clients.values())

    @property
    def version(self) -> str:
        """The dialect, once it is agreed."""
        agreed = {client.dialect.version for client in self._clients.values() if client.dialect}
        return f"slurmrestd {', '.join(sorted(agreed)) or 'of any known version'}"

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """The cluster's abilities."""
        return abilities_of(self._cluster(cluster), view)

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """A problem for each field that the job's cluster cannot honour.

        Raises Misconfigured without a key.
        """
        addressed = self._addressed(spec)
        self._attempts_on(addressed.cluster.name)
        return tuple(check(*addressed))

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """A problem for each resource that the cluster's operator does not allow, or that no node has."""
        own = self._cluster(cluster)
        if problems := tuple(refusals(own, resources)):
            return problems
        view_key = _view_key(own, resources)
        return tuple(
            absent(own.name, view_key[1] or own.name, self._listed.get(view_key, Listed()), resources)
        )

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """The POST of the held job, in the agreed dialect or the newest."""
        cluster = self._cluster(order.target.cluster)
        client = self._clients.get(cluster.name)
        bounded = self._bounded(cluster, order.resources)
        return (submission(bounded, (client and client.dialect) or DIALECTS[0], order),)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        cluster = self._cluster(order.target.cluster)
        bounded = self._bounded(cluster, order.resources)
        return variables(site(bounded, order), order, _RUN)

    async def submit(self, order: Order) -> Observation | None:
        """Submit a held job. It is released once the controller can no longer forget it."""
        attempts = self._attempts_on(order.target.cluster)
        cluster = self._cluster(order.target.cluster)
        await self._lately.view(_view_key(cluster, order.resources))
        return await attempts.submit(order, self._bounded(cluster, order.resources))

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """The Slurm job and the node of a rank."""
        cluster = self._cluster(target.cluster)
        return await rank_entrance(cluster, self._attempts_on(cluster.name).jobs, target, spec, rank)

    async def nodes(self, cluster: str) -> ClusterView:
        """The nodes of the cluster's partition, which Slurm itself scales."""
        own = self._cluster(cluster)
        return await self._fetch_view((own.name, own.partition))

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """The facts of the partition and its nodes, from two lists that are at most some minutes old."""
        own = self._cluster(cluster)
        view = await self._lately.view(_view_key(own, resources))
        return replace(view.facts if view else NO_FACTS, allotted=self._allotted(own, resources))

    def _allotted(self, cluster: SlurmCluster, resources: JsonObject) -> Allotted:
        """What a job with those resources gets of each node; all of it for a job that `allots` refuses."""
        if next(refusals(cluster, resources), None) is not None:
            return ALL
        return requested(
            merged(cluster, resources), self._listed.get(_view_key(cluster, resources), Listed())
        )

    async def _fetch_view(self, view_key: tuple[str, str]) -> ClusterView:
        name, partition = view_key
        self._attempts_on(name)
        lists = {}
        for what in ("nodes", "partitions"):
            answer = await self._clients[name].call("GET", f"/{what}/")
            if failure := answer.failure():
                raise failure
            lists[what] = answer.body.get(what) or ()
        if len(self._listed) >= _MOST_VIEWS:  # jobs choose partitions, so there may be any number of names
            self._listed.clear()
        self._listed |= {(name, one): of_one for one, of_one in listings(partition, **lists).items()}
        return view(replace(self._clusters[name], partition=partition), **lists)

    def _bounded(self, cluster: SlurmCluster, resources: JsonObject) -> SlurmCluster:
        """The cluster with the time limit of the partition, if known."""
        view = self._lately.last_view(_view_key(cluster, resources))
        longest = combined_facts(cluster.facts, view.facts).longest if view else None
        return replace(cluster, max_wall_clock=iso_duration(longest)) if longest else cluster

    def _attempts_on(self, name: str) -> Attempts:
        cluster = self._cluster(name)
        if cluster.name not in self._attempts:
            raise Misconfigured(f"SLIPWAY_SLURM_KEYS holds no key for the cluster {cluster.name}")
        return self._attempts[cluster.name]


class _ViewKey(NamedTuple):
    """The key of a cached view of nodes: a cluster and one of its partitions."""

    cluster: str
    partition: str


def _view_key(cluster: SlurmCluster, resources: JsonObject) -> _ViewKey:
    """The cluster's name, and the partition for a job with those resources."""
    return _ViewKey(cluster.name, str(resources.get("partition") or cluster.partition))
