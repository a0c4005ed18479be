"""The port to a scheduler, and what passes through it. Pure declarations.

Every verb may be repeated safely, returns at once and calls nobody back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from shared.job import JobState, Reason, Target
from shared.spec import JobSpec, JsonObject, Problem


@dataclass(frozen=True)
class Cluster:
    """A configured target on an engine. `id` is the engine's own id; the rest is None while unknown."""

    name: str
    engine: str
    id: str
    mounts: frozenset[str] | None = None
    max_nodes: int | None = None
    gpus_per_node: int | None = None
    max_wall_clock: timedelta | None = None


@dataclass(frozen=True)
class Order:
    """One attempt, ready to be submitted: the document has its credentials and its environment."""

    target: Target
    document: JsonObject


@dataclass(frozen=True)
class Observation:
    """What an engine says of one attempt, in our words."""

    state: JobState
    reason: Reason | None = None
    message: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    ended: datetime | None = None


@dataclass(frozen=True)
class OutputFile:
    """A file that a job wrote. `size` in bytes, None for a directory."""

    name: str
    size: int | None
    modified: datetime | None


@dataclass(frozen=True)
class LogChunk:
    """Bytes of a log from an offset; `next` is where to go on."""

    data: bytes
    next: int


@dataclass(frozen=True)
class NodeView:
    """One node: its name on the engine, and its state in the engine's words."""

    name: str
    state: str


@dataclass(frozen=True)
class ClusterView:
    """A cluster as it is now; `counts` are nodes by state."""

    name: str
    engine: str
    state: str
    nodes: int
    counts: Mapping[str, int]
    minimum: int | None
    maximum: int | None
    size: str
    errors: tuple[str, ...] = ()
    #: dedicated or lowpriority; "" when the engine does not say
    priority: str = ""
    #: the nodes one by one; empty when the engine only counts them
    members: tuple[NodeView, ...] = ()


@dataclass(frozen=True)
class Submission:
    """The request that gives an order to the engine, before it is sent. `body` is JSON."""

    method: str
    path: str
    body: Any


@dataclass(frozen=True)
class Variable:
    """One environment variable of a job's processes."""

    name: str
    #: as the script sees it, or how it is formed where `exact` is False
    value: str
    #: who sets it: engine, job, slipway
    source: str
    exact: bool = True


@dataclass(frozen=True)
class Ability:
    """Whether an engine can do something: `configured` means only where its cluster is set up for it."""

    answer: Literal["yes", "configured", "no"]
    note: str = ""


#: What is asked of engines; each declares every one of them. `docs/engines.md` shows the answers.
ABILITIES: Mapping[str, str] = {
    "durable": "an acknowledged job is never forgotten",
    "gang": "the nodes of a job start together",
    "mpi": "toolkits under MPI",
    "containers": "containers",
    "registries": "log-in to a private registry by the job",
    "shares": "shares and containers mounted by the job",
    "servers": "file servers mounted by the job",
    "commands": "mount commands of the job",
    "preparation": "job preparation",
    "secrets": "secret values",
    "vault": "secrets from Key Vault",
    "priorities": "scheduling priorities",
    "limit": "wall-clock limit from the start",
    "exit": "exit code",
    "ended": "jobs that ended long ago are known",
    "bulk": "one call for the status of all jobs",
    "logs": "logs while a job runs",
    "elastic": "nodes from zero",
    "preemptible": "nodes that may be taken away",
}


class Engine(Protocol):
    """A scheduler. Each verb returns at once, may be repeated safely and calls nobody back."""

    @property
    def version(self) -> str:
        """What it speaks, for receipts: a name and the version of its interface."""

    @property
    def capabilities(self) -> Mapping[str, Ability]:
        """Pure: every one of ABILITIES."""

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Pure: each field that this engine cannot honour (SW109), so that a gap is refused at acceptance.

        The spec has the right shape and one toolkit; it may break other rules, which are told as well.
        """

    def submission(self, order: Order) -> Submission:
        """Pure: the request that `submit` sends for the order; whoever shows it masks the order first."""

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """Pure: the environment that the job's processes will see, in the order of its making."""

    async def submit(self, order: Order) -> Observation | None:
        """Give the attempt to the scheduler. A name that is taken with the same token is success.

        The answer is what is known of it already; None for nothing but that it was taken.
        """

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """In bulk, by engine-side name. A name that is missing was not found."""

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """The attempts there that have not ended, whoever asked for them: engine-side name → token."""

    async def see(self, target: Target) -> Observation:
        """One attempt, asked directly. Raises NotFound."""

    async def cancel(self, target: Target) -> None:
        """Ask for the end. A job that ended or is unknown is success."""

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The files of an output directory (`stdouterr` or an output id)."""

    async def log(self, target: Target, file: str, offset: int, limit: int) -> LogChunk:
        """Part of a file of `stdouterr`. Raises NotFound while there is no such file."""

    async def nodes(self, cluster: str) -> ClusterView:
        """The cluster as it is now."""

    async def close(self) -> None:
        """Close connections."""
