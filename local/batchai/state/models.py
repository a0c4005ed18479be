"""The emulator's records: workspaces with everything in them, and operations. All are frozen."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from local.nodes.fault import Fault
from local.nodes.machine import address

NodeState = Literal["allocating", "preparing", "idle", "running", "leaving", "unusable"]
JobState = Literal["queued", "running", "terminating", "succeeded", "failed"]
#: Why a running job is being stopped. `requeue` sends it back to the queue, all others end it.
Stop = Literal["terminated", "timeout", "requeue", "cluster", "deleted"]

ENDED: frozenset[JobState] = frozenset({"succeeded", "failed"})


class Record(BaseModel):
    """A frozen record that changes by making a new one."""

    model_config = ConfigDict(frozen=True)

    def evolve(self, **changes: Any) -> Self:
        """A copy with other values."""
        return self.model_copy(update=changes)


class Resource(Record):
    """Something with an id. `sequence` is the order of creation; `deleting`: it is being deleted."""

    id: str
    sequence: int
    created: datetime
    deleting: bool = False


class Group(Resource):
    """A resource group, which holds workspaces."""

    location: str
    tags: dict[str, str] = {}


class Workspace(Resource):
    """A workspace, which holds clusters and experiments."""

    location: str
    tags: dict[str, str] = {}


class Experiment(Resource):
    """An experiment, which holds jobs."""


class Node(Record):
    """A node of a cluster.

    `number` is unique on this machine, and determines its address and its directory.
    """

    id: str
    number: int
    state: NodeState
    since: datetime
    job: str | None = None
    #: Taken back by the region: it leaves as soon as its job has ended there.
    preempted: bool = False

    @property
    def address(self) -> str:
        """An address of the loopback network, so that scripts can bind and connect."""
        return address(self.number)


class Cluster(Resource):
    """A cluster. `document` is the request with its secrets; `suffix` is where setup tasks write."""

    document: dict[str, Any]
    suffix: str
    allocation: Literal["steady", "resizing"] = "steady"
    allocation_since: datetime
    nodes: tuple[Node, ...] = ()
    #: How many nodes it has had so far: numbers of nodes are reused, their ids are not.
    nodes_made: int = 0
    errors: tuple[Fault, ...] = ()

    @property
    def scale(self) -> dict[str, Any]:
        """The scale settings, manual or autoScale."""
        settings: dict[str, Any] = self.document.get("scaleSettings") or {"manual": {"targetNodeCount": 0}}
        return settings

    @property
    def bounds(self) -> tuple[int, int]:
        """The fewest and the most nodes that its scale settings allow."""
        if manual := self.scale.get("manual"):
            return int(manual["targetNodeCount"]), int(manual["targetNodeCount"])
        auto = self.scale["autoScale"]
        return int(auto["minimumNodeCount"]), int(auto["maximumNodeCount"])

    @property
    def mounts(self) -> dict[str, Any]:
        """The mount volumes of every node."""
        mounts: dict[str, Any] = self.document.get("nodeSetup", {}).get("mountVolumes", {})
        return mounts


class Job(Resource):
    """A job. `cluster` and `nodes` are keys; `attempt` grows when it goes back to the queue.

    `outputs` maps the ids of its output directories to where they really are, "" if on no mount.
    """

    document: dict[str, Any]
    cluster: str
    instance: str
    wall_clock: float
    state: JobState = "queued"
    since: datetime
    started: datetime | None = None
    ended: datetime | None = None
    exit_code: int | None = None
    errors: tuple[Fault, ...] = ()
    nodes: tuple[str, ...] = ()
    attempt: int = 0
    stop: Stop | None = None
    outputs: dict[str, str] = {}

    @property
    def node_count(self) -> int:
        """How many nodes it takes, all or none."""
        return int(self.document["nodeCount"])

    @property
    def priority(self) -> str:
        """Its priority in the queue: low, normal or high."""
        return str(self.document.get("schedulingPriority", "normal"))

    @property
    def active(self) -> bool:
        """Whether it has not ended."""
        return self.state not in ENDED


class FileServer(Resource):
    """A file server: a directory of this machine. `instance` names it, so that a name can be used again."""

    document: dict[str, Any]
    instance: str


class Operation(Record):
    """A long-running operation: it is over when its subject is."""

    name: str
    verb: Literal["create", "terminate", "delete"]
    subject: str
    location: str
    started: datetime
    #: When a request first found it to be over.
    ended: datetime | None = None
