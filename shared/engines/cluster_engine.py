"""ClusterEngine: what engines share that keep the attempts of each of their clusters apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from shared.core.engine import FileChunk, FilePage, Observation, OutputFile
from shared.core.errors import Misconfigured
from shared.core.job import Target
from shared.core.refusals import gives_none
from shared.engines.first_files import first_files
from shared.jobspec import JobSpec, JsonObject, Problem


class Described(Protocol):
    """A cluster as a deployment configures it."""

    @property
    def name(self) -> str:
        """Its name in the settings."""


class Attempts(Protocol):
    """The attempts on one cluster. The port to a scheduler says what each verb does."""

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """In bulk, by name; a name that is missing was not found."""

    async def at_work(self) -> Mapping[str, str]:
        """Name and token of each that has not ended."""

    async def see(self, target: Target) -> Observation:
        """One, asked directly. Raises NotFound."""

    async def cancel(self, target: Target) -> None:
        """Ask for its end."""

    async def forget(self, targets: Sequence[Target]) -> frozenset[str]:
        """Remove what the cluster keeps of them; the names of those of which something is left."""


class Outputs(Protocol):
    """The files that the jobs of one cluster wrote."""

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """Entries of an output directory. Raises NotFound."""

    async def chunk(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """Part of a file of an output directory. Raises NotFound."""


class Connection(Protocol):
    """What an engine holds open."""

    async def close(self) -> None:
        """No call comes after it."""


C = TypeVar("C", bound=Described)
A = TypeVar("A", bound=Attempts)


class Addressed(NamedTuple, Generic[C]):
    """The cluster that a job file names, and the properties of that file."""

    cluster: C
    properties: JsonObject


class ClusterEngine(Generic[C, A]):
    """The verbs of the port that concern attempts and their files, by the name of their cluster."""

    #: what people call the scheduler
    SCHEDULER: ClassVar[str]

    def __init__(
        self,
        clusters: Mapping[str, C],
        attempts: Mapping[str, A],
        outputs: Mapping[str, Outputs],
        connections: Iterable[Connection],
    ) -> None:
        self._clusters, self._attempts, self._outputs = clusters, attempts, outputs
        self._connections = tuple(connections)

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """Nothing can be asked of whole nodes."""
        return gives_none(self.SCHEDULER, resources)

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """In bulk."""
        return await self._attempts_on(cluster).status(targets)

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """Name and token of each that has not ended."""
        return await self._attempts_on(cluster).at_work()

    async def see(self, target: Target) -> Observation:
        """One, asked directly."""
        return await self._attempts_on(target.cluster).see(target)

    async def cancel(self, target: Target) -> None:
        """Ask for its end."""
        await self._attempts_on(target.cluster).cancel(target)

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """Remove what the cluster keeps of them."""
        return await self._attempts_on(cluster).forget(targets)

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The files, from a file system of the nodes where this app sees it."""
        return await first_files(self, target, directory, path)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """One page of the files of a directory, from the same file system."""
        return await self._outputs_on(target.cluster).page(target, directory, path, after)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """At most `limit` bytes of a file from `offset` on, from the same file system."""
        return await self._outputs_on(target.cluster).chunk(target, directory, path, offset, limit)

    async def close(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            await connection.close()

    def _addressed(self, spec: JobSpec) -> Addressed[C]:
        properties = spec.document()["properties"]
        return Addressed(self._cluster(properties["cluster"]["id"].rpartition("/")[2]), properties)

    def _cluster(self, name: str) -> C:
        cluster = next((one for one in self._clusters.values() if one.name.lower() == name.lower()), None)
        if cluster is None:
            raise Misconfigured(f"no cluster {name!r} on {self.SCHEDULER} is configured here")
        return cluster

    def _attempts_on(self, name: str) -> A:
        return self._attempts[self._cluster(name).name]

    def _outputs_on(self, name: str) -> Outputs:
        return self._outputs[self._cluster(name).name]
