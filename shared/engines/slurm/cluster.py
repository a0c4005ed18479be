"""One Slurm cluster as a deployment configures it. Pure: read from JSON, every mistake named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.engines.launch.layout import Layout
from shared.engines.options import cluster_of, each_cluster
from shared.engines.slurm.reserved import refusal
from shared.jobspec import RESOURCES, parse_duration, read_resources

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LONGEST_SETTLED = 600
#: How a job gets into its container, by the word in the configuration.
CONTAINERS = ("apptainer", "pyxis", "oci")


@dataclass(frozen=True)
class SlurmCluster:
    """A cluster behind one slurmrestd. Paths are those of its nodes."""

    name: str
    #: of slurmrestd
    url: str
    #: the user that jobs run as
    user: str
    #: a directory that all nodes share and the user may write: claims, records, the files nodes meet at
    shared: str
    partition: str = ""
    #: $AZ_BATCHAI_MOUNT_ROOT
    mount_root: str = "/mnt"
    #: where each node keeps what only it needs
    temporary: str = "/tmp/slipway"  # noqa: S108 - of the nodes, below a folder of the attempt's own
    #: PATH of jobs
    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    gpus: int = 0
    #: all that is below mount_root on every node; empty where that is not known
    mounted: Sequence[str] = ()
    #: MiB
    node_memory: int = 0
    #: that a job may have, and how long it may run (ISO 8601): less than Slurm allows, if given
    max_nodes: int = 0
    max_wall_clock: str = ""
    #: share address, ACCOUNT/CONTAINER or file server id → directory of the nodes
    mounts: Mapping[str, str] = field(default_factory=dict)
    #: directory of the nodes → where this app sees it
    reads: Mapping[str, str] = field(default_factory=dict)
    #: a directory in a mounted blob container, for the records of runs that are over; "" for none
    ends: str = ""
    #: schedulingPriority → name of a QOS, or an explicit priority
    priorities: Mapping[str, str | int] = field(default_factory=dict)
    #: whether nodes may be taken away from jobs, which then wait again
    preemptible: bool = False
    container: str = ""
    #: image → its unpacked OCI bundle, a directory of the nodes; for `oci`, which fetches no images
    bundles: Mapping[str, str] = field(default_factory=dict)
    #: "mpirun", or what srun --mpi takes
    mpi: str = "mpirun"
    account: str = ""
    #: what each job gets (`jobspec.resources`): of the nodes whole ones, unless it says less
    resources: Mapping[str, Any] = field(default_factory=dict)
    #: the resources that a job may choose for itself
    allow: Sequence[str] = ()
    #: whether finished jobs are looked up in slurmdbd
    accounting: bool = False
    #: the file of jobcomp/filetxt, where this app sees it
    completions: str = ""
    #: seconds until a submitted job is on the controller's disk; it is released only then
    settle_seconds: float = 6.0
    #: allow http to another machine; the token travels in it
    plain_http: bool = False

    @property
    def longest(self) -> timedelta | None:
        """How long a job may run; None where nothing limits it."""
        return parse_duration(self.max_wall_clock)

    @property
    def layout(self) -> Layout:
        """Where its attempts keep their records."""
        return Layout("slurm", self.name, self.shared)

    @property
    def facts(self) -> ClusterFacts:
        """What is configured of it."""
        return ClusterFacts(
            mounts=frozenset(self.mounted) or None,
            max_nodes=self.max_nodes or None,
            gpus=self.gpus or None,
            memory=self.node_memory or None,
            longest=self.longest,
        )


def clusters_from(document: Any, setting: str) -> dict[str, SlurmCluster]:
    """The clusters of a JSON object: name → options in camelCase. Raises Misconfigured."""
    return {name: _cluster(name, options, place) for name, options, place in each_cluster(document, setting)}


def _cluster(name: str, options: Any, place: str) -> SlurmCluster:
    cluster = cluster_of(SlurmCluster, name, options, place, needed=("url", "user", "shared"))
    _check(cluster, place)
    return cluster


def _check(cluster: SlurmCluster, place: str) -> None:
    """What would go wrong later, at a job. Raises Misconfigured."""
    address = urlsplit(cluster.url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise Misconfigured(f"{place}: url must be the address of slurmrestd, e.g. https://head:6820")
    if address.scheme == "http" and address.hostname not in _LOOPBACK and not cluster.plain_http:
        raise Misconfigured(
            f"{place}: the token would travel in the clear; put slurmrestd behind https, "
            "or set plainHttp where the network is private"
        )
    if cluster.container not in ("", *CONTAINERS):
        raise Misconfigured(f"{place}: container is one of {', '.join(CONTAINERS)}, or left out")
    if cluster.container in ("pyxis", "oci") and cluster.mpi == "mpirun":
        text = f"{cluster.container} starts containers with srun: set mpi to what srun --mpi takes"
        raise Misconfigured(f"{place}: {text}")
    paths = [cluster.shared, cluster.mount_root, cluster.temporary, *cluster.mounts.values(), *cluster.reads]
    paths += [*cluster.bundles.values(), *filter(None, (cluster.ends, cluster.completions))]
    for path in paths:
        if not path.startswith("/") or any(c in path for c in "\t\n$"):
            raise Misconfigured(f"{place}: {path!r} is not an absolute path")
    _check_path(cluster.path, place)
    _check_numbers(cluster, place)
    _check_resources(cluster, place)
    if cluster.max_wall_clock and not cluster.longest:
        raise Misconfigured(f"{place}: maxWallClock is not an ISO 8601 duration, such as P1D or PT12H")
    unknown = set(cluster.priorities) - {"low", "normal", "high"}
    if unknown:
        raise Misconfigured(f"{place}: priorities are low, normal and high, not {sorted(unknown)[0]!r}")


def _check_path(path: str, place: str) -> None:
    for directory in path.split(":"):
        if not directory.startswith("/") or any(c in directory for c in "\t\n$~"):
            text = f"path: {directory!r} is not an absolute directory; e.g. /opt/slurm/bin:/usr/bin:/bin"
            raise Misconfigured(f"{place}: {text}")


def _check_numbers(cluster: SlurmCluster, place: str) -> None:
    numbers = {"gpus": cluster.gpus, "maxNodes": cluster.max_nodes, "nodeMemory": cluster.node_memory}
    for option, number in numbers.items():
        if number < 0:
            raise Misconfigured(f"{place}: {option} has to be at least 0")
    if not 0 <= cluster.settle_seconds <= _LONGEST_SETTLED:
        raise Misconfigured(f"{place}: settleSeconds has to be from 0 to {_LONGEST_SETTLED}")


def _check_resources(cluster: SlurmCluster, place: str) -> None:
    _, problems = read_resources(dict(cluster.resources))
    for one in problems:
        where = one.pointer.strip("/").replace("/", ".")
        raise Misconfigured(f"{place}: {where}: {one.message}; {one.remedy}")
    if 0 < cluster.gpus < (cluster.resources.get("gpus") or 0):
        raise Misconfigured(f"{place}: resources.gpus: a node has {cluster.gpus} GPUs (gpus)")
    for name in ("exclusive", "partition", "account"):
        if name in cluster.resources:
            also = "jobs get whole nodes anyway" if name == "exclusive" else f"{name} is an option itself"
            raise Misconfigured(f"{place}: resources.{name} has no place there: {also}")
    if text := refusal(cluster.resources.get("options") or {}):
        raise Misconfigured(f"{place}: resources.{text}")
    if unknown := [name for name in cluster.allow if name not in RESOURCES]:
        names = ", ".join(RESOURCES)
        raise Misconfigured(f"{place}: allow: there is no resource {unknown[0]!r}; there are {names}")
