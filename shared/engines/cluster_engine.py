"""ClusterEngine: the common part of engines that keep each cluster's attempts separately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

from shared.core.engine import FileChunk, FilePage, Observation, OutputFile
from shared.core.errors import Misconfigured
from shared.core.job import Target
from shared.core.refusals import gives_none
from shared.core.relations.hold import Held
from shared.engines.first_files import first_files
from shared.engines.recorded import held
from shared.engines.runs import Record
from shared.jobspec import JobSpec, JsonObject, Problem


class Described(Protocol):
    """A configured cluster."""

    @property
    def name(self) -> str:
        """Its name in the settings."""

    @property
    def ending(self) -> float:
        """Seconds that a running attempt has from the request to the kill."""


class Attempts(Protocol):
    """The attempts on one cluster. See the port to a scheduler for each verb."""

    async def status(self, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """The observations of many attempts, by name. A missing name was not found."""

    async def at_work(self) -> Mapping[str, str]:
        """The name and token of each attempt that has not ended."""

    async def see(self, target: Target) -> Observation:
        """One attempt, read directly. Raises NotFound."""

    async def cancel(self, target: Target) -> None:
        """Ask for its end."""

    async def forget(self, targets: Sequence[Target]) -> frozenset[str]:
        """Remove what the cluster keeps of these attempts. Returns the names of those with something left."""


class Outputs(Protocol):
    """What the jobs of one cluster wrote: the records of their runs, and files."""

    async def find(self, target: Target) -> Record | None:
        """The record of a run; None if none can be seen."""

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """One page of an output directory. Raises NotFound."""

    async def chunk(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """Part of a file of an output directory. Raises NotFound."""


class Connection(Protocol):
    """The open connections of an engine."""

    async def close(self) -> None:
        """Close them. No call follows."""


C = TypeVar("C", bound=Described)
A = TypeVar("A", bound=Attempts)


class Addressed(NamedTuple, Generic[C]):
    """The cluster that a job file names, and the properties of the file."""

    cluster: C
    properties: JsonObject


class ClusterEngine(Generic[C, A]):
    """The verbs of the port for attempts and their files, passed on to the cluster of that name."""

    #: the scheduler's name for people
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
        """Nothing: jobs get whole nodes."""
        return gives_none(self.SCHEDULER, resources)

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """The observations of many attempts, cluster by cluster."""
        return await self._attempts_on(cluster).status(targets)

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """The name and token of each attempt that has not ended."""
        return await self._attempts_on(cluster).at_work()

    async def see(self, target: Target) -> Observation:
        """One attempt, read directly."""
        return await self._attempts_on(target.cluster).see(target)

    async def held(self, target: Target) -> Held | None:
        """How a running attempt ended whose nodes are kept, by the record of its run."""
        return held(await self._outputs_on(target.cluster).find(target))

    def ending(self, cluster: str) -> float:
        """Seconds that a running attempt has from the request to the kill."""
        return self._cluster(cluster).ending

    async def cancel(self, target: Target) -> None:
        """Ask for its end."""
        await self._attempts_on(target.cluster).cancel(target)

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """Remove what the cluster keeps of these attempts."""
        return await self._attempts_on(cluster).forget(targets)

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The job's files, from a file system of the nodes that this app mounts."""
        return await first_files(self, target, directory, path)

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """One page of a directory, from the same file system."""
        return await self._outputs_on(target.cluster).page(target, directory, path, after)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """At most `limit` bytes of a file, starting at `offset`, from the same file system."""
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
