"""The emulator's records: pools with their nodes, jobs and tasks. All are frozen."""

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
    "unusable",
    "leavingpool",
]
JobState = Literal["active", "disabling", "disabled", "terminating", "completed", "deleting"]
TaskState = Literal["active", "preparing", "running", "completed"]
#: States in which a node takes tasks.
WORKING: frozenset[NodeState] = frozenset({"idle", "running"})
Document = dict[str, Any]
#: The members of a job with the commands on each of its nodes: before its first task there, and at its end.
PREPARATION, RELEASE = "jobPreparationTask", "jobReleaseTask"


class Record(BaseModel):
    """A frozen record, changed by making a new one. `version`: when a caller changed it last."""

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
        """The key of an id: ids keep their case, but are compared without it."""
        return self.id.lower()


class Node(BaseModel):
    """A node of a pool. `number` is unique on this machine, and determines its address and directory."""

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
    errors: tuple[Document, ...] = ()
    #: the names of the accounts that callers have added
    users: tuple[str, ...] = ()
    total_run: int = 0
    total_succeeded: int = 0

    def evolve(self, **changes: Any) -> Self:
        """A copy with other values."""
        return self.model_copy(update=changes)

    @property
    def shown_state(self) -> str:
        """The state that callers see: a node that takes no tasks, and runs none, is offline."""
        return "offline" if self.state == "idle" and not self.takes_tasks else self.state

    @property
    def address(self) -> str:
        """An address of the loopback network, to which tasks can bind and connect."""
        return address(self.number)

    @property
    def machine(self) -> Machine:
        """The node, as a machine of `local/nodes`."""
        return Machine(self.id, self.number)


class Autoscale(BaseModel):
    """A pool's formula, how often it is evaluated, and the last result."""

    model_config = ConfigDict(frozen=True)

    formula: str
    interval: str
    last: datetime | None = None
    results: str = ""
    error: Document | None = None


class Pool(Record):
    """A pool. `document`: the caller's body; `nodes_so_far`: how many nodes it has had."""

    document: Document
    deleting: bool = False
    since: datetime
    allocation: Literal["steady", "resizing", "stopping"] = "steady"
    allocation_since: datetime
    dedicated: int = 0
    spot: int = 0
    resize_timeout: str = "PT15M"
    #: What happens to tasks on nodes that leave: requeue, terminate, taskcompletion, retaineddata.
    leaving: str = "requeue"
    resize_errors: tuple[Document, ...] = ()
    #: the codes with which the next attempts to grow will fail
    coming_errors: tuple[str, ...] = ()
    autoscale: Autoscale | None = None
    nodes: tuple[Node, ...] = ()
    nodes_so_far: int = 0

    @property
    def slots(self) -> int:
        """Task slots of each node."""
        return int(self.document.get("taskSlotsPerNode", 1))

    def with_node(self, node: Node) -> Self:
        """A copy with this node replaced."""
        return self.evolve(nodes=tuple(node if one.id == node.id else one for one in self.nodes))

    def node(self, node_id: str) -> Node | None:
        """A node by its id."""
        return next((node for node in self.nodes if node.id.lower() == node_id.lower()), None)


class Job(Record):
    """A job. `pool`: the key of its pool; `reason`: why it was terminated."""

    document: Document
    pool: str
    state: JobState = "active"
    since: datetime
    previous: str = ""
    previous_since: datetime | None = None
    ended: datetime | None = None
    reason: str = ""
    #: What happens to running tasks of a job that is being disabled: requeue, terminate, wait.
    disable: str = ""
    #: node → its pool, and the executions of the preparation and the release there
    prepared: dict[str, Document] = {}

    @property
    def priority(self) -> int:
        """The priority; tasks of jobs with a higher number run first."""
        return int(self.document.get("priority", 0))


class Task(Record):
    """A task. `job`: the key of its job; `attempt`: the unique number of this run."""

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
    #: the nodes of that pool on which it runs or ran, the primary one first
    pool: str = ""
    nodes: tuple[str, ...] = ()
    attempt: str = ""
    #: the exit code of each subtask of a multi-instance task; None while it runs
    subtasks: tuple[int | None, ...] = ()

    @property
    def slots(self) -> int:
        """The number of slots that it takes on a node."""
        return int(self.document.get("requiredSlots", 1))

    @property
    def succeeded(self) -> bool:
        """Whether its command ended with 0, and what followed went well."""
        return self.exit_code == 0 and self.failure is None

    @property
    def instances(self) -> int:
        """The number of nodes that it needs, all at once."""
        return int(self.document.get("multiInstanceSettings", {}).get("numberOfInstances", 1))

    @property
    def max_retries(self) -> int:
        """How often it runs again after a bad exit code; -1 for no limit."""
        return int(self.document["constraints"]["maxTaskRetryCount"])
