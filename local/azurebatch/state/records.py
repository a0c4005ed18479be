"""Pools with their nodes, jobs and tasks, as the emulator remembers them. All records are frozen."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

from local.nodes.machine import Machine, address

NodeState = Literal[
    "creating",
    "starting",
    "waitingforstarttask",
    "starttaskfailed",
    "idle",
    "running",
    "rebooting",
    "preempted",
    "leavingpool",
]
JobState = Literal["active", "disabling", "disabled", "terminating", "completed", "deleting"]
TaskState = Literal["active", "preparing", "running", "completed"]
#: States in which a node takes tasks.
WORKING: frozenset[NodeState] = frozenset({"idle", "running"})
Document = dict[str, Any]


class Record(BaseModel):
    """A frozen record that changes by making a new one. `version`: when a caller changed it last."""

    model_config = ConfigDict(frozen=True)

    id: str
    sequence: int
    created: datetime
    version: datetime

    def evolve(self, **changes: Any) -> Self:
        """A copy with other values."""
        return self.model_copy(update=changes)

    @property
    def key(self) -> str:
        """What names it: ids keep their letters' case, and are the same in any."""
        return self.id.lower()


class Node(BaseModel):
    """A node of a pool. `number` is its own on this machine and gives its address and its directory."""

    model_config = ConfigDict(frozen=True)

    id: str
    number: int
    dedicated: bool
    state: NodeState
    since: datetime
    allocated: datetime
    booted: datetime | None = None
    takes_tasks: bool = True
    start_task: Document | None = None
    total_run: int = 0
    total_succeeded: int = 0

    def evolve(self, **changes: Any) -> Self:
        """A copy with other values."""
        return self.model_copy(update=changes)

    @property
    def address(self) -> str:
        """An address of the loopback network, so that tasks can bind and connect."""
        return address(self.number)

    @property
    def machine(self) -> Machine:
        """It, as the runtime of nodes knows it."""
        return Machine(self.id, self.number)


class Autoscale(BaseModel):
    """A pool's formula, how often it is evaluated, and how that went the last time."""

    model_config = ConfigDict(frozen=True)

    formula: str
    interval: str
    last: datetime | None = None
    results: str = ""
    error: Document | None = None


class Pool(Record):
    """A pool. `document` is what a caller sent, `made` how many nodes it has had."""

    document: Document
    deleting: bool = False
    since: datetime
    allocation: Literal["steady", "resizing", "stopping"] = "steady"
    allocation_since: datetime
    dedicated: int = 0
    spot: int = 0
    resize_timeout: str = "PT15M"
    #: What becomes of tasks on nodes that leave: requeue, terminate, taskcompletion, retaineddata.
    leaving: str = "requeue"
    resize_errors: tuple[Document, ...] = ()
    autoscale: Autoscale | None = None
    nodes: tuple[Node, ...] = ()
    nodes_so_far: int = 0

    @property
    def slots(self) -> int:
        """How many slots for tasks each node has."""
        return int(self.document.get("taskSlotsPerNode", 1))

    def with_node(self, node: Node) -> Self:
        """A copy in which this node is as given."""
        return self.evolve(nodes=tuple(node if one.id == node.id else one for one in self.nodes))

    def node(self, node_id: str) -> Node | None:
        """A node by its id."""
        return next((node for node in self.nodes if node.id.lower() == node_id.lower()), None)


class Job(Record):
    """A job. `pool` is the key of its pool; `reason` says why it was terminated."""

    document: Document
    pool: str
    state: JobState = "active"
    since: datetime
    previous: str = ""
    previous_since: datetime | None = None
    ended: datetime | None = None
    reason: str = ""
    #: What becomes of running tasks of a job that is being disabled: requeue, terminate, wait.
    disable: str = ""

    @property
    def priority(self) -> int:
        """Tasks of jobs with a higher number run first."""
        return int(self.document.get("priority", 0))


class Task(Record):
    """A task. `job` is the key of its job, `attempt` names this run of it among all runs of all tasks."""

    document: Document
    job: str
    state: TaskState = "active"
    since: datetime
    previous: str = ""
    previous_since: datetime | None = None
    started: datetime | None = None
    ended: datetime | None = None
    exit_code: int | None = None
    failure: Document | None = None
    retries: int = 0
    retried: datetime | None = None
    requeues: int = 0
    requeued: datetime | None = None
    #: Of its pool, the nodes that it runs or ran on, the first is the primary one.
    pool: str = ""
    nodes: tuple[str, ...] = ()
    attempt: str = ""
    #: The end of each subtask of a multi-instance task: its exit code, None while it runs.
    subtasks: tuple[int | None, ...] = ()

    @property
    def slots(self) -> int:
        """How many slots of a node it takes."""
        return int(self.document.get("requiredSlots", 1))

    @property
    def instances(self) -> int:
        """How many nodes it takes, all or none."""
        return int(self.document.get("multiInstanceSettings", {}).get("numberOfInstances", 1))

    @property
    def max_retries(self) -> int:
        """How often it runs again after a bad exit code; -1 is without limit."""
        return int(self.document["constraints"]["maxTaskRetryCount"])
