"""What a cluster's jobs can count on: its configuration, and the reports of its engine. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from shared.jobspec import iso_duration


class Allotted(NamedTuple):
    """What a job has of its nodes: their GPUs, and its part of each node, 1 for all; None if not known."""

    gpus: int | None = None
    part: float | None = 1.0


#: Whole nodes, with all their GPUs: what a job has that does not share.
ALL = Allotted()


@dataclass(frozen=True)
class Packages:
    """What an operator sets for the packages that jobs install; "" for each that is left out."""

    #: addresses: of an index in place of PyPI, and of a proxy
    index: str = ""
    proxy: str = ""
    #: a directory of the nodes for environments that later jobs use
    keep: str = ""


@dataclass(frozen=True)
class ClusterFacts:
    """Facts of one cluster; None for each that is not known."""

    #: all paths that it mounts below $AZ_BATCHAI_MOUNT_ROOT
    mounts: frozenset[str] | None = None
    #: that a job may have
    max_nodes: int | None = None
    #: of a node; memory in MiB
    gpus: int | None = None
    memory: int | None = None
    #: how long it lets a job run
    longest: timedelta | None = None
    #: whether the app can read what a job writes on its nodes outside all mounts
    keeps_files: bool = False
    #: why Azure no longer gives it nodes of its size, and which size to use; "" if nothing is wrong
    retired_size: str = ""
    #: of Azure: its VM size, `dedicated` or `lowpriority`, and its region; "" for each that is not known
    size: str = ""
    priority: str = ""
    region: str = ""
    packages: Packages = Packages()
    #: the keys (`directory_key`) of the containers, shares and file servers that its nodes have directories
    #: for: a job that mounts one gets the directory, with any key
    directories: frozenset[str] = frozenset()
    #: what a job with the requested resources gets of each of its nodes, by which it is counted
    allotted: Allotted = ALL
    #: whether its scheduler lists every node that it can ever have, so that no job of more can start
    lists_all: bool = False


#: Nothing is known.
NO_FACTS = ClusterFacts()


class Gpus(NamedTuple):
    """The GPUs of the nodes that a cluster has now: those that no job has, of all that can be used."""

    free: int
    every: int

    @classmethod
    def of_nodes(cls, counts: Mapping[str, int], gpus: int | None) -> Gpus | None:
        """Those of whole nodes with so many each, by state; None where that is not known, or none has any."""
        if not gpus or "idle" not in counts:
            return None
        return cls(counts["idle"] * gpus, (counts["idle"] + counts.get("running", 0)) * gpus)


@dataclass(frozen=True)
class Supply:
    """Where the nodes of a cluster come from; "" for each value that its engine does not report."""

    #: of Azure
    region: str = ""
    #: what has to happen before new nodes start
    growth: str = ""
    #: the quota that Azure gives them, or how to look it up
    quota: str = ""
    #: how many nodes that quota has room for; None if it is not known
    most: int | None = None


#: Nothing is known.
NO_SUPPLY = Supply()
#: The state of a cluster whose nodes are not known: Slipway may not list them.
UNLISTED = "not listed"


def combined_facts(configured: ClusterFacts, read: ClusterFacts) -> ClusterFacts:
    """The configured and the reported facts: the smaller limit counts, and mounts add up.

    For GPUs and memory the configured number counts.
    """
    mounts = [one for one in (configured.mounts, read.mounts) if one is not None]
    nodes = [one for one in (configured.max_nodes, read.max_nodes) if one is not None]
    times = [one for one in (configured.longest, read.longest) if one is not None]
    return ClusterFacts(
        mounts=frozenset().union(*mounts) if mounts else None,
        max_nodes=min(nodes, default=None),
        lists_all=read.lists_all,
        gpus=read.gpus if configured.gpus is None else configured.gpus,
        memory=read.memory if configured.memory is None else configured.memory,
        longest=min(times, default=None),
        keeps_files=read.keeps_files or configured.keeps_files,
        retired_size=read.retired_size or configured.retired_size,
        size=read.size or configured.size,
        priority=read.priority or configured.priority,
        region=read.region or configured.region,
        packages=configured.packages,
        directories=configured.directories,
        allotted=read.allotted,
    )


def is_on_nodes(facts: ClusterFacts, container: str) -> bool:
    """Whether the nodes of a cluster have a directory for a container of that name, or a mount called so."""
    of_accounts = (key.split("/") for key in facts.directories)
    return any(len(parts) == 2 and parts[1] == container for parts in of_accounts) or any(
        path.rpartition("/")[2] == container for path in facts.mounts or ()
    )


def facts_as_json(facts: ClusterFacts) -> dict[str, Any]:
    """The facts of a cluster as JSON, by the names of the options that configure them."""
    return {
        "mounted": None if facts.mounts is None else sorted(facts.mounts),
        "maxNodes": facts.max_nodes,
        "gpus": facts.gpus,
        "nodeMemory": facts.memory,
        "maxWallClock": iso_duration(facts.longest) if facts.longest else None,
    }
