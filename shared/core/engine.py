"""The port to a scheduler, and what passes through it. Pure declarations.

Every verb may be repeated safely, returns at once and makes no callback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from shared.core.abilities import Ability
from shared.core.code.record import CodeSource
from shared.core.facts import NO_FACTS, NO_SUPPLY, Allotted, ClusterFacts, Gpus, Supply
from shared.core.job import JobState, Reason, Target
from shared.core.relations.before import Before
from shared.core.relations.entrance import Entrance
from shared.core.relations.hold import Held
from shared.core.relations.variables import Variable

if TYPE_CHECKING:
    from shared.jobspec import JobSpec, JsonObject, Problem


@dataclass(frozen=True)
class Cluster:
    """A configured cluster of an engine. `id` is the engine's own id."""

    name: str
    engine: str
    id: str
    facts: ClusterFacts = NO_FACTS


@dataclass(frozen=True)
class Earlier:
    """An earlier attempt of the same job, and why it ended according to the ledger; "" if unknown."""

    target: Target
    reason: str


@dataclass(frozen=True)
class Order:
    """One attempt, ready to be submitted: the document has its credentials and its environment."""

    target: Target
    document: JsonObject
    #: attempts that must no longer run when this one does, for engines that cannot be sure of that
    earlier: tuple[Earlier, ...] = ()
    #: the other resources that it requests (`jobspec.resources`)
    resources: JsonObject = field(default_factory=dict)
    #: token → the keys that prove the records of that attempt; none before the engine submits it
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    #: the code that each node fetches, checks and unpacks before anything runs; None if it brings none
    code: CodeSource | None = None
    before: tuple[Before, ...] = ()  #: the jobs whose output it may read
    resumes: str = ""  #: the job from whose saved files it goes on; "" for none
    hold: timedelta = timedelta()  #: for how long its nodes are kept if it fails by its own fault


@dataclass(frozen=True)
class Why:
    """Why an attempt waits: the engine's word, and a sentence of ours."""

    word: str
    text: str
    passes: bool = False  #: when other jobs end, or in a moment: recorded only if it lasts
    never: bool = False  #: whether it lasts until the job or the cluster changes
    is_brief: bool = False  #: whether it says less than is known otherwise: it replaces no recorded reason
    lacks_capacity: bool = False  #: whether quota or machines are lacking: an operator gets an alert


class Observation(NamedTuple):
    """What an engine says about one attempt, in our words. A tuple, since a pass makes thousands of them."""

    state: JobState
    reason: Reason | None = None
    message: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    ended: datetime | None = None
    #: whether the cluster ended it before any of it ran, for example because a node did not boot
    unstarted: bool = False
    #: whether one that was not started had nodes all the same, and the time of its cluster counts as used:
    #: that nothing of it ran is then no word of the cluster, but of what a job may reach
    had_nodes: bool = False
    #: whether its node found other bytes in storage than the code that was accepted, and ran nothing
    is_other_code: bool = False
    why: Why | None = None  #: why a queued attempt waits, or what a running one waits for
    allotted: Allotted | None = None  #: what its scheduler gave it of all its nodes; None if it does not say
    #: the engine's own name for it, "" if unknown: any text, kept in the record for people
    handle: str = ""
    #: the folders between a path prefix of the job and its output, "" if not known yet
    segment: str = ""

    @property
    def used_nothing(self) -> bool:
        """Whether none of its time counts as used."""
        return self.unstarted and not self.had_nodes


@dataclass(frozen=True)
class OutputFile:
    """A file that a job wrote.

    `size` in bytes; None for a directory, for a `link` that leads elsewhere, and for a `left_out` entry: its
    name cannot be requested, it is not a file, or it stands for the rest of a very large directory.
    """

    name: str
    size: int | None
    modified: datetime | None
    link: bool = False
    left_out: bool = False
    #: file, directory, link, pipe, socket, device, unkept, or other; of a link: nowhere, special, or above
    kind: str = ""
    executable: bool | None = None  #: of a file; None if the cluster does not say


@dataclass(frozen=True)
class FilePage:
    """Some files of a folder; `next` is the `after` of the following ones, "" if there are none."""

    files: tuple[OutputFile, ...]
    next: str = ""


@dataclass(frozen=True)
class FileChunk:
    """Bytes of a file from an offset; `next` is the offset of the following ones."""

    data: bytes
    next: int
    size: int  #: bytes of the whole file
    #: changes when the file does, as far as the engine can see that; "" if it cannot
    version: str = ""


@dataclass(frozen=True)
class NodeView:
    """One node: its name on the engine, and its state in the engine's words."""

    name: str
    state: str


@dataclass(frozen=True)
class ClusterView:
    """A cluster as it is now; `counts` are nodes by state, `members` the nodes, if they are listed."""

    name: str
    engine: str
    state: str
    nodes: int
    counts: Mapping[str, int]
    minimum: int | None
    maximum: int | None
    size: str
    errors: tuple[str, ...] = ()
    priority: str = ""  #: dedicated or lowpriority; "" when the engine does not say
    members: tuple[NodeView, ...] = ()
    facts: ClusterFacts = NO_FACTS
    supply: Supply = NO_SUPPLY
    gpus: Gpus | None = None  #: None where the engine does not show whose they are
    #: what the engine can do there, if that was requested
    capabilities: Mapping[str, Ability] = field(default_factory=dict)


def room(view: ClusterView) -> int:
    """The most nodes that a job of the cluster may have."""
    most = view.nodes if view.maximum is None else view.maximum
    return most if view.facts.max_nodes is None else min(most, view.facts.max_nodes)


#: The beginning of the sentence for a wait that lasts until the job or the cluster changes.
NEVER = "can never start as things stand"


def too_large(nodes: int, view: ClusterView) -> str:
    """Why a job of that many nodes can never start on the cluster as it is; "" when it can."""
    most = room(view)
    request = f"asks for {nodes} {'node' if nodes == 1 else 'nodes'}"
    return f"{NEVER}: the job {request}, the cluster has at most {most}" if nodes > most else ""


def lacks_quota(nodes: int, view: ClusterView) -> bool:
    """Whether a job of that many nodes waits for more quota, and not for existing nodes."""
    return view.supply.most is not None and nodes > max(view.supply.most, view.nodes)


@dataclass(frozen=True)
class Submission:
    """A request, not sent yet, that submits an order or creates something that it needs. `body` is JSON."""

    method: str
    path: str
    body: Any


class Engine(Protocol):
    """A scheduler. Each verb returns at once, may be repeated safely and makes no callback."""

    @property
    def version(self) -> str:
        """The name and the version of its interface, for receipts."""

    def capabilities(self, cluster: str, view: ClusterView | None = None) -> Mapping[str, Ability]:
        """Pure: every one of ABILITIES, for a cluster as it is configured, and as `view` shows it if given.

        The answer is `configured` only if neither shows whether the cluster is set up for it. For a cluster
        that no setting describes it is that of the service, or Misconfigured where there is no service.
        """

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        """Pure: each field that this engine cannot honour (SW109), so that the job is rejected at acceptance.

        The spec has the right shape and one toolkit; it may break other rules, which are reported as well.
        """

    def allots(self, cluster: str, resources: JsonObject) -> tuple[Problem, ...]:
        """Pure: each of a job's `resources` that the cluster refuses (SW109), placed below /resources."""

    def submissions(self, order: Order) -> tuple[Submission, ...]:
        """Pure: the requests that carry this order, in the order in which `submit` sends them.

        Requests that serve many jobs (creation of an experiment) or have no content of their own (release of
        a held job) are left out. `submit` may be repeated after any of them. To show them, mask the order.
        """

    def environment(self, order: Order) -> tuple[Variable, ...]:
        """Pure: the environment that the job's processes will see, in the order of definition."""

    async def submit(self, order: Order) -> Observation | None:
        """Give the attempt to the scheduler. An existing attempt with the same name and token is success.

        Returns its observation if one is known already, otherwise None.
        """

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        """In bulk, by engine-side name. A name that is missing was not found."""

    async def at_work(self, cluster: str) -> Mapping[str, str]:
        """All active attempts on the cluster, including those of other apps: name on the cluster → token."""

    async def see(self, target: Target) -> Observation:
        """One attempt, queried directly. Raises NotFound."""

    async def held(self, target: Target) -> Held | None:
        """How a running attempt ended whose nodes are kept (`Order.hold`); None for any other.

        The record of its run says so, which the cluster's jobs may reach: it decides no end.
        """

    async def entrance(self, target: Target, spec: JsonObject, rank: int) -> Entrance:
        """Where the process of that rank runs now. Raises NotFound if none does, and Misuse if none is open.

        `spec` is the document as recorded. Only for clusters whose ability `enter` is `yes`.
        """

    def ending(self, cluster: str) -> float:
        """Pure: seconds that a running attempt has from the request to the kill."""

    async def cancel(self, target: Target) -> None:
        """Request its end. A job that has ended or is unknown counts as success."""

    async def forget(self, cluster: str, targets: Sequence[Target]) -> frozenset[str]:
        """Remove what the cluster keeps of ended attempts and what their jobs saved, except output files.

        Returns the names of attempts with leftovers, for which the caller repeats the call later. An attempt
        that is unknown, or whose name belongs to another job, is left alone.
        """

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        """The files of a folder of an output directory (`stdouterr` or an output id); of many, the first."""

    async def page(self, target: Target, directory: str, path: str, after: str) -> FilePage:
        """The same page by page; `after` is "", or the `next` of the previous page as a caller sent it."""

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        """At most `limit` bytes of a file of an output directory; none at or after its end.

        Raises NotFound, which names directory and path, if there is no such file, and NotAFile for a folder.
        """

    async def nodes(self, cluster: str) -> ClusterView:
        """The cluster as it is now."""

    async def facts(self, cluster: str, resources: JsonObject) -> ClusterFacts:
        """What jobs with those resources can count on, by the cluster's latest report; nothing without one.

        It raises no error of the cluster, and queries it only now and then, for any number of jobs.
        """

    async def close(self) -> None:
        """Close the connections; no other verb is called after it."""
