"""The options of a cluster that mean the same on every scheduler whose nodes get our program. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.jobspec import parse_duration


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """What an operator may say of any cluster. Paths are those of its nodes."""

    #: $AZ_BATCHAI_MOUNT_ROOT
    mount_root: str = "/mnt"
    #: PATH of jobs
    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    #: of a node
    gpus: int = 0
    #: all that is below mount_root on every node; empty where that is not known
    mounted: Sequence[str] = ()
    #: that a job may have, and how long it may run (ISO 8601)
    max_nodes: int = 0
    max_wall_clock: str = ""
    #: share address, ACCOUNT/CONTAINER or file server id → directory of the nodes
    mounts: Mapping[str, str] = field(default_factory=dict)
    #: directory of the nodes → where this app sees it
    reads: Mapping[str, str] = field(default_factory=dict)
    #: a directory in a mounted blob container, for the records of runs that are over; "" for none
    ends: str = ""

    @property
    def longest(self) -> timedelta | None:
        """How long a job may run; None where nothing limits it."""
        return parse_duration(self.max_wall_clock)

    @property
    def facts(self) -> ClusterFacts:
        """What is configured of it."""
        return ClusterFacts(
            mounts=frozenset(self.mounted) or None,
            max_nodes=self.max_nodes or None,
            gpus=self.gpus or None,
            longest=self.longest,
        )


@dataclass(frozen=True, kw_only=True)
class NodeOptions(CommonOptions):
    """The same, and what a node itself has."""

    #: where each node keeps what only it needs
    temporary: str = "/tmp/slipway"  # noqa: S108 - of the nodes, below a folder of the attempt's own
    #: MiB
    node_memory: int = 0

    @property
    def facts(self) -> ClusterFacts:
        """What is configured of it."""
        return replace(super().facts, memory=self.node_memory or None)


def check_options(
    cluster: CommonOptions, place: str, *, paths: Iterable[str], numbers: Mapping[str, int]
) -> None:
    """What would go wrong later, at a job. Raises Misconfigured.

    `paths` and `numbers` (by option) are the engine's own, checked beside those of every cluster.
    """
    for path in (cluster.mount_root, *cluster.reads, *filter(None, (cluster.ends,)), *paths):
        if not path.startswith("/") or any(c in path for c in "\t\n$"):
            raise Misconfigured(f"{place}: {path!r} is not an absolute path")
    for directory in cluster.path.split(":"):
        if not directory.startswith("/") or any(c in directory for c in "\t\n$~"):
            text = f"path: {directory!r} is not an absolute directory; e.g. /opt/bin:/usr/bin:/bin"
            raise Misconfigured(f"{place}: {text}")
    for option, number in {"gpus": cluster.gpus, "maxNodes": cluster.max_nodes, **numbers}.items():
        if number < 0:
            raise Misconfigured(f"{place}: {option} has to be at least 0")
    if cluster.max_wall_clock and not cluster.longest:
        raise Misconfigured(f"{place}: maxWallClock is not an ISO 8601 duration, such as P1D or PT12H")
