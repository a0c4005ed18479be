"""A local cluster as the stack sees it: its words, its start, and its state once it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from local.azurite import Azurite
    from local.process import Child

#: The cluster that jobs run on unless they name another one, and the blob containers that its nodes see.
NAME, SCRIPTS, DATA = "dev-cluster-00", "scripts", "datalake"
#: The container into which nodes write the records of ends, whose events go to the app.
ENDS = "ends"
#: The mount of every job for its output.
LOGS = "logs"

#: Starts one of our modules as a child that is named so, with arguments; returns its URL. Raises StartError.
Launch = Callable[..., Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The stack's options for its cluster."""

    #: the folder of the stack
    data: Path
    #: of its API on the loopback interface; 0 is any free port
    port: int
    #: at most
    nodes: int
    storage: Azurite
    #: options of its own program
    arguments: tuple[str, ...]
    launch: Launch


def _nothing() -> AbstractAsyncContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, kw_only=True)
class Running:
    """A running cluster, with the data that the app needs."""

    #: of its API
    url: str
    #: by which the app finds it
    settings: Mapping[str, str] = field(repr=False)
    #: the settings of the storage, with those that the cluster adds
    connection_string: str = field(repr=False)
    #: beside those that were launched
    processes: tuple[Child, ...] = field(default=(), repr=False)
    #: lines for a person who wants to look into it
    hints: tuple[str, ...] = ()
    #: held while the app runs, from when everything that it expects is there
    serving: Callable[[], AbstractAsyncContextManager[None]] = field(default=_nothing, repr=False)


@dataclass(frozen=True)
class Installed:
    """Whether the programs of a cluster are on this machine: their version, or the remedy."""

    #: "" where they cannot be run
    version: str = ""
    remedy: str = ""
    #: the problem; "" if there is none, or if they are not installed
    trouble: str = ""


class Start(Protocol):
    """The function `start` of a cluster's module."""

    def __call__(self, options: ClusterOptions) -> AbstractAsyncContextManager[Running]:
        """Run it for the length of the block. Raises StartError."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of local cluster: its words for people, and its module, imported when it is started."""

    #: what its API is of
    title: str
    #: as in "starting …"
    words: str
    module: str
    #: whether a person may give options of its own program
    takes_options: bool = False
    #: whether it keeps the number of nodes with which it was made
    keeps_nodes: bool = False
    #: whether a job there may have several nodes
    spreads_jobs: bool = True
    #: whether it runs programs of this machine, which its module then looks for in `installed`
    needs_programs: bool = False

    def start(self, options: ClusterOptions) -> AbstractAsyncContextManager[Running]:
        """Run it for the length of the block. Raises StartError, with the remedy."""
        begin: Start = import_module(self.module).start
        return begin(options)

    def installed(self) -> Installed:
        """Whether the programs that it needs are there."""
        if not self.needs_programs:
            return Installed(version="a part of the project")
        state: Installed = import_module(self.module).installed()
        return state
