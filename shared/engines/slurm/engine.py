"""The Slurm engine, over slurmrestd with JWT: v0.0.38 of Slurm 22.05, v0.0.40 to v0.0.45 of 23.11 and later.

How a job is submitted is in `attempts`; what runs on the nodes is made by `launch`. aiohttp is imported
at the first call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from shared.engine import Ability
from shared.engines.slurm.abilities import ABILITIES
from shared.engines.slurm.attempts import Attempts
from shared.engines.slurm.check import check
from shared.engines.slurm.client import SlurmClient
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.dialect import DIALECTS, Dialect
from shared.engines.slurm.environment import environment
from shared.engines.slurm.finished import Finished
from shared.engines.slurm.nodes import view
from shared.engines.slurm.records import Records
from shared.engines.slurm.request import submission
from shared.errors import Misconfigured
from shared.job import Target
from shared.ports import ClusterView, LogChunk, Observation, Order, OutputFile, Submission, Variable
from shared.spec import JobSpec, Problem


class SlurmEngine:
    """The engine port over Slurm clusters. `keys`: cluster → what authenticates us there."""

    def __init__(
        self,
        clusters: Mapping[str, SlurmCluster],
        keys: Mapping[str, bytes | str],
        *,
        clock: Callable[[], float] = time.time,
        dialects: Sequence[Dialect] = DIALECTS,
    ) -> None:
        self._clusters = clusters
        self._clients = {
            name: SlurmClient(one, keys[name], dialects) for name, one in clusters.items() if name in keys
        }
        self._records = {name: Records(one) for name, one in clusters.items()}
        self._attempts = {
            name: Attempts(
                clusters[name],
                client,
                Finished(clusters[name], client, self._records[name]),
                clock,
            )
            for name, client in self._clients.items()
        }

    @property
    def version(self) -> str:
        """The dialect, once one was agreed on."""
        agreed = {client.dialect.version for client in self._clients.values() if client.dialect}
        return f"slurmrestd {', '.join(sorted(agreed)) or 'of any known version'}"

    @property
    def capabilities(self) -> Mapping[str, Ability]:
        """The same for every cluster; what is configured decides the rest."""
        return ABILITIES

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Each field that the job's cluster cannot honour."""
        properties = spec.document()["properties"]
        name = properties["cluster"]["id"].rpartition("/")[2]
        return tuple(check(self._cluster(name), properties))

    def submission(self, order: Order) -> Submission:
        """The POST of the held job, in the dialect that was agreed on, or in the newest."""
        cluster = self._cluster(order.target.cluster)
        client = self._clients.get(cluster.name)
        return submission(cluster, (client and client.dialect) or DIALECTS[0], order)

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """The variables of the job's processes."""
        return environment(self._cluster(order.target.cluster), order)

    async def submit(self, order: Order) -> None:
        """A held job, which is released once the controller cannot forget it any more."""
        await self._on(order.target.cluster).submit(order)

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """One bulk call, whatever the number of jobs; and the release of what is due."""
        return await self._on(cluster).status(targets)

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """One list."""
        return await self._on(cluster).at_work()

    async def see(self, target: Target) -> Observation:
        """One attempt, from a list that was taken after the call."""
        return await self._on(target.cluster).see(target)

    async def cancel(self, target: Target) -> None:
        """Every copy of it."""
        await self._on(target.cluster).cancel(target)

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """From the file system that the nodes share, where it is seen from here."""
        self._cluster(target.cluster)
        return await self._records[target.cluster].files(target, directory, path)

    async def log(self, target: Target, file: str, offset: int, limit: int) -> LogChunk:
        """From there as well."""
        self._cluster(target.cluster)
        return await self._records[target.cluster].log(target, file, offset, limit)

    async def nodes(self, cluster: str) -> ClusterView:
        """The nodes of the cluster's partition; it grows and shrinks by Slurm's own doing."""
        self._on(cluster)
        answer = await self._clients[cluster].call("GET", "/nodes/")
        if failure := answer.failure():
            raise failure
        return view(self._clusters[cluster], answer.body.get("nodes") or ())

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()

    def _cluster(self, name: str) -> SlurmCluster:
        found = next((one for one in self._clusters.values() if one.name.lower() == name.lower()), None)
        if found is None:
            raise Misconfigured(f"no Slurm cluster {name!r} is configured here")
        return found

    def _on(self, name: str) -> Attempts:
        cluster = self._cluster(name)
        if cluster.name not in self._attempts:
            raise Misconfigured(f"SLIPWAY_SLURM_KEYS holds no key for the cluster {cluster.name}")
        return self._attempts[cluster.name]
