"""Cluster options that mean the same on every scheduler whose nodes run Slipway's program. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.engines.launch.site import GRACE
from shared.engines.options import packages_of
from shared.jobspec import directory_key, duration_flaw, parse_duration

#: The bounds of the time that a job has after SIGTERM.
_GRACE = (1, 600)


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options of every such cluster. Paths are those of the nodes."""

    #: $AZ_BATCHAI_MOUNT_ROOT
    mount_root: str = "/mnt"
    #: PATH of jobs
    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    #: of a node
    gpus: int = 0
    #: everything below mount_root on every node; empty if unknown
    mounted: Sequence[str] = ()
    #: most nodes of a job, and its longest time (ISO 8601)
    max_nodes: int = 0
    max_wall_clock: str = ""
    #: seconds from SIGTERM to SIGKILL
    grace_seconds: int = GRACE
    #: share address, ACCOUNT/CONTAINER or file server id → directory of the nodes
    mounts: Mapping[str, str] = field(default_factory=dict)
    #: directory of the nodes → where this app mounts it
    reads: Mapping[str, str] = field(default_factory=dict)
    #: a directory in a mounted blob container, for the records of ended runs; "" for none
    ends: str = ""
    #: of the packages that jobs install: an `index` and a `proxy`, and a directory to `keep` environments in
    packages: Mapping[str, str] = field(default_factory=dict)

    @property
    def ending(self) -> float:
        """Seconds that a running attempt has from the request to the kill."""
        return float(self.grace_seconds)

    @property
    def longest(self) -> timedelta | None:
        """How long a job may run; None if there is no limit."""
        return parse_duration(self.max_wall_clock)

    @property
    def facts(self) -> ClusterFacts:
        """The configured facts."""
        return ClusterFacts(
            mounts=frozenset(self.mounted) or None,
            directories=frozenset(map(directory_key, self.mounts)),
            max_nodes=self.max_nodes or None,
            gpus=self.gpus or None,
            longest=self.longest,
            packages=packages_of(self.packages, "SLIPWAY_CLUSTERS"),
        )


@dataclass(frozen=True, kw_only=True)
class NodeOptions(CommonOptions):
    """The common options, and those of nodes with a disk of their own."""

    #: each node's directory for files of its own
    temporary: str = "/tmp/slipway"  # noqa: S108 - of the nodes, below a folder of the attempt's own
    #: of a node, in MiB
    node_memory: int = 0

    @property
    def facts(self) -> ClusterFacts:
        """The configured facts, including the memory of a node."""
        return replace(super().facts, memory=self.node_memory or None)


def check_options(
    cluster: CommonOptions, place: str, *, paths: Iterable[str], numbers: Mapping[str, int]
) -> None:
    """Refuse options that would fail at a job. Raises Misconfigured.

    `paths` and `numbers` (by option) are the engine's own, checked together with the common ones.
    """
    for path in (cluster.mount_root, *cluster.reads, *filter(None, (cluster.ends,)), *paths):
        if not path.startswith("/") or any(c in path for c in "\t\n$"):
            raise Misconfigured(f"{place}: {path!r} is not an absolute path")
    packages_of(cluster.packages, place)
    for directory in cluster.path.split(":"):
        if not directory.startswith("/") or any(c in directory for c in "\t\n$~"):
            text = f"path: {directory!r} is not an absolute directory; e.g. /opt/bin:/usr/bin:/bin"
            raise Misconfigured(f"{place}: {text}")
    for option, number in {"gpus": cluster.gpus, "maxNodes": cluster.max_nodes, **numbers}.items():
        if number < 0:
            raise Misconfigured(f"{place}: {option} has to be at least 0")
    if not _GRACE[0] <= cluster.grace_seconds <= _GRACE[1]:
        raise Misconfigured(f"{place}: graceSeconds has to be from {_GRACE[0]} to {_GRACE[1]}")
    if cluster.max_wall_clock and not cluster.longest:
        flaw = duration_flaw(cluster.max_wall_clock) or "has no length"
        raise Misconfigured(f"{place}: maxWallClock {flaw}; write one such as P1D or PT12H")
