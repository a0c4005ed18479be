"""What a job has to do on its nodes, and how it ended."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from local.nodes.fault import Failed, Fault
from local.nodes.machine import Directories, Machine
from local.nodes.tasks import TaskLost
from local.nodes.volume import Volume

_log = logging.getLogger(__name__)
DEFECT = Fault(code="InternalError", message="The emulator has a defect; see its log")
NEVER_BEGAN = 127
#: What a shell says of a command that SIGTERM ended.
STOPPED = 143


@dataclass(frozen=True)
class Process:
    """One process of a job: its node, its command, and its additions to the environment.

    A service works for the others: it is ended when they have ended.
    """

    name: str
    node: int
    argv: tuple[str, ...]
    stdout: str = "stdout.txt"
    stderr: str = "stderr.txt"
    env: Mapping[str, str] = field(default_factory=dict)
    service: bool = False


@dataclass(frozen=True)
class Image:
    """The container image of a job; `server` is a registry that the name does not say."""

    name: str
    server: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    #: The size of /dev/shm, in the form that the container runtime takes.
    shm_size: str = ""


@dataclass(frozen=True)
class Output:
    """A directory that is made for a job's output: `rest` below the author's `prefix`."""

    prefix: str
    rest: str


class CannotLaunch(Failed):
    """The job cannot be started on these nodes."""


#: The path of a program, by its name; None if the nodes do not have it.
Find = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that a run needs, with secrets resolved. `envs` and `outputs` have one entry for each node."""

    #: The cluster's volumes, and the job's own.
    shared_volumes: Sequence[Volume]
    volumes: Sequence[Volume]
    envs: Sequence[Mapping[str, str]] = field(repr=False)
    outputs: Sequence[Mapping[str, Output]]
    #: The output that holds the standard streams and the log of the run.
    logs: str
    #: The output that holds the reports of the nodes; none are made without it.
    reports: str
    image: Image | None
    #: The variables that the job itself defines; they replace those of an image.
    own: frozenset[str]
    #: Shell text that runs on each node first; "" for none.
    preparation: str = field(repr=False)
    #: Programs that `processes` may look for.
    programs: tuple[str, ...]
    #: The processes to start. Raises CannotLaunch.
    processes: Callable[[Find], Sequence[Process]]
    #: Why none of them can be started; the outputs are made for this reason only.
    fault: Fault | None = None


class Work(Protocol):
    """A job as its nodes see it."""

    @property
    def name(self) -> str:
        """The job's name in our own log."""

    @property
    def mark(self) -> str:
        """The name of this run; no other run of any job has it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The folders of the job on a node."""

    @property
    def machines(self) -> Sequence[Machine]:
        """Its nodes; the first is the master."""

    async def plan(self, directories: Sequence[Directories]) -> Plan:
        """Make the plan. Raises Failed or OSError, either of which ends the job without any output."""


@dataclass(frozen=True)
class Outcome:
    """How a run of a job ended; `requeue` if it is to run again from the start, unless it was stopped."""

    exit_code: int | None = None
    errors: tuple[Fault, ...] = ()
    requeue: bool = False
    #: What its standard error is to say, where no process of the job could.
    reason: str = ""


def never_began(fault: Fault) -> Outcome:
    """The end of a job that could not start: that of a shell which cannot run a command.

    Clients take an end without an exit code for a success.
    """
    return Outcome(NEVER_BEGAN, (fault,), reason=_reason(fault))


def stopped(fault: Fault | None, *, has_begun: bool) -> Outcome:
    """The end of a run that was stopped, by the fault that it is stopped for, or to run again."""
    if has_begun:
        return Outcome(STOPPED, requeue=True)
    return Outcome(NEVER_BEGAN, requeue=True, reason=_reason(fault) if fault else "")


def _reason(fault: Fault) -> str:
    return f"{fault.code}: {fault.message}"


def outcome_of(work: "asyncio.Task[Outcome]") -> Outcome:
    """How the work of a run ended, also by an error."""
    try:
        return work.result()
    except Failed as error:
        return never_began(error.fault)
    except TaskLost:
        return Outcome(requeue=True)
    except OSError as error:
        what = ": ".join(str(part) for part in (error.strerror, error.filename) if part)
        return never_began(Fault(code="JobEnvironmentFailed", message=what))
    except Exception:  # noqa: BLE001 the entry point of a run: a defect must not hold its nodes for ever
        _log.exception("a defect of the emulator in a run")
        return never_began(DEFECT)
