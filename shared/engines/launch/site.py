"""What a cluster and its scheduler offer to a job. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from shared.core.code.record import CodeSource
from shared.engines.launch.volumes import Volume

#: Seconds from SIGTERM to SIGKILL, unless a cluster has others.
GRACE = 30


@dataclass(frozen=True)
class Spread:
    """How processes are spread over the nodes of a job: `tasks` on `nodes` nodes from number `first` on.

    The nodes are filled in blocks.
    """

    nodes: int
    tasks: int
    first: int = 0
    #: the MPI by which they are started; "" for none
    mpi: str = ""
    #: whether each gets the standard input
    is_fed: bool = False


@dataclass(frozen=True)
class Scheduler:
    """How the program on the nodes finds out where it runs, and starts processes on other nodes."""

    #: a command that prints the nodes of the job, one a line, the first of them first
    hosts: tuple[str, ...]
    #: a command that succeeds while the scheduler answers
    ready: tuple[str, ...]
    #: variables whose values number the runs of a job
    run: tuple[str, ...]
    #: variables that hold a process's node and its rank
    node: str
    rank: str
    #: the words before a command that has to run in several places
    spread: Callable[[Spread], tuple[str, ...]]
    #: variables that only `hosts` needs: no process of the job gets them
    hidden: tuple[str, ...] = ()
    #: the command that sends SIGTERM to what `spread` has started, where a signal to that has it killed
    ask_far: tuple[str, ...] = ()
    #: whether its own SIGTERM reaches every process of a job, not the program alone
    asks_all: bool = False
    #: how lines begin in which it says that it ended processes, as another one had failed
    afterwards: str = ""


@dataclass(frozen=True)
class Container:
    """How a process is started in a job's container: by words before it, or by options of the scheduler."""

    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    #: shell text that starts it on each node, its variables, and the command that ends it there
    begin: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    end: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """One cluster, for one attempt of a job. Paths are those of its nodes."""

    scheduler: Scheduler
    #: the path between a path prefix of the job and the folder of one run
    segment: str
    #: directory of the attempt on a file system that all nodes share
    records: str
    #: directory of the attempt on each node
    temporary: str
    #: the file of the program's own output, with the scheduler's variables as {NAME}
    output: str
    mount_root: str
    path: str
    gpus: int
    #: seconds from SIGTERM to SIGKILL
    grace: int = GRACE
    #: directory of the job that outlives its attempts, on the same file system or on each node; "" for none
    saved: str = ""
    #: that of the job from which this one goes on; "" for none
    resumed: str = ""
    #: where its generations are if it is on each node: the input of `node/saved`; "" otherwise
    generations: str = ""
    #: mount path of the job → directory of the nodes
    links: tuple[tuple[str, str], ...] = ()
    #: the volumes that the nodes mount for the job, and the words before `mount` and `unmount` that do it
    volumes: tuple[Volume, ...] = ()
    mounter: tuple[str, ...] = ()
    #: directory of the nodes in which a new file is noticed at once; "" for none
    ends: str = ""
    container: Container | None = None
    #: "mpirun", or the scheduler's name for its own MPI
    mpi: str = "mpirun"
    #: how long the cluster lets a job run; None if that is not known
    longest: timedelta | None = None
    #: where claims and records are kept (`node/blobs.py`); "" for the directory `records`
    place: str = ""
    #: where files are uploaded that exist only on a node, in the same form; "" if the nodes share all files
    keep: str = ""
    #: what of it is brought to each node before the job: a prefix, and a place below `after` of a run
    before: tuple[tuple[str, str], ...] = ()
    #: until when a run may start: signatures in its plan end later by as long as it may run; None without any
    start_by: datetime | None = None
    #: directories on the nodes whose content outlives the nodes
    shares: tuple[str, ...] = ()
    #: the code of the job, if it owns one, and the file that has it where nodes mount the snapshots
    code: CodeSource | None = None
    code_file: str = ""
    #: where it is unpacked before a run, and the command that puts it at its place; "": the run fetches it
    unpacked: str = ""
    placing: tuple[str, ...] = ()
