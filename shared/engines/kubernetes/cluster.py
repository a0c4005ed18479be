"""One cluster on Kubernetes as a deployment configures it. Pure: read from JSON, every mistake named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.engines.kubernetes.origins import origin_of
from shared.engines.kubernetes.tolerations import toleration_of
from shared.engines.launch.layout import Layout
from shared.engines.options import cluster_of, each_cluster
from shared.jobspec import parse_duration

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_LEVELS = ("low", "normal", "high")


@dataclass(frozen=True)
class KubernetesCluster:
    """A namespace of a cluster. Paths are those of its pods."""

    name: str
    #: a directory on a volume that all pods share: claims, records, the files at which ranks meet
    shared: str
    #: directory of the pods → its volume: pvc:NAME, or nfs:HOST:/EXPORT
    volumes: Mapping[str, str]
    #: of jobs without containerSettings; python3 and bash have to be in every image
    image: str
    namespace: str = "slipway"
    #: $AZ_BATCHAI_MOUNT_ROOT
    mount_root: str = "/mnt"
    #: PATH of jobs
    path: str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    gpus: int = 0
    #: what the device plugin calls a GPU: amd.com/gpu, or nvidia.com/mig-1g.10gb
    gpu_resource: str = "nvidia.com/gpu"
    #: of a pod, in Kubernetes' words: "8", "56Gi"; "" for no limit
    cpus: str = ""
    memory: str = ""
    #: labels of the nodes that jobs run on
    node_selector: Mapping[str, str] = field(default_factory=dict)
    #: taints that jobs bear: KEY=VALUE:EFFECT, KEY:EFFECT, or KEY
    tolerations: Sequence[str] = ()
    #: seconds for which a pod stays on a node that does not answer
    unreachable_seconds: int = 60
    #: schedulingPriority → PriorityClass; with `queue`, WorkloadPriorityClass
    priorities: Mapping[str, str] = field(default_factory=dict)
    #: whether nodes come when jobs wait for them
    autoscales: bool = False
    #: whether its API server takes the token of our Azure identity, as AKS does
    entra: bool = False
    #: a LocalQueue of Kueue; "" where there is none
    queue: str = ""
    #: names of Secrets of the namespace with log-ins to registries
    pull_secrets: Sequence[str] = ()
    #: the user and group that jobs run as; 0 for root
    user: int = 1000
    group: int = 1000
    #: all that is below mount_root in every pod; empty where that is not known
    mounted: Sequence[str] = ()
    #: that a job may have, and how long it may run (ISO 8601)
    max_nodes: int = 0
    max_wall_clock: str = ""
    #: share address, ACCOUNT/CONTAINER or file server id → directory of the pods
    mounts: Mapping[str, str] = field(default_factory=dict)
    #: directory of the pods → where this app sees it
    reads: Mapping[str, str] = field(default_factory=dict)
    #: a directory in a mounted blob container, for the records of runs that are over; "" for none
    ends: str = ""

    @property
    def longest(self) -> timedelta | None:
        """How long a job may run; None where nothing limits it."""
        return parse_duration(self.max_wall_clock)

    @property
    def layout(self) -> Layout:
        """Where its attempts keep their records."""
        return Layout("kubernetes", self.name, self.shared)

    @property
    def facts(self) -> ClusterFacts:
        """What is configured of it."""
        return ClusterFacts(
            mounts=frozenset(self.mounted) or None,
            max_nodes=self.max_nodes or None,
            gpus=self.gpus or None,
            longest=self.longest,
        )


def clusters_from(document: Any, setting: str) -> dict[str, KubernetesCluster]:
    """The clusters of a JSON object: name → options in camelCase. Raises Misconfigured."""
    return {name: _cluster(name, options, place) for name, options, place in each_cluster(document, setting)}


def _cluster(name: str, options: Any, place: str) -> KubernetesCluster:
    cluster = cluster_of(KubernetesCluster, name, options, place, needed=("shared", "volumes", "image"))
    _check_paths(cluster, place)
    _check_words(cluster, place)
    return cluster


def _check_paths(cluster: KubernetesCluster, place: str) -> None:
    """What would go wrong later, at a job. Raises Misconfigured."""
    paths = [cluster.shared, cluster.mount_root, *cluster.volumes, *cluster.mounts.values(), *cluster.reads]
    for path in [*paths, *cluster.path.split(":"), *([cluster.ends] if cluster.ends else [])]:
        if not path.startswith("/") or any(c in path for c in "\t\n$~"):
            raise Misconfigured(f"{place}: {path!r} is not an absolute path")
    for path, text in cluster.volumes.items():
        if origin_of(text) is None:
            raise Misconfigured(f"{place}: volumes: {path}: write pvc:NAME or nfs:HOST:/EXPORT")
    directories = {"shared": cluster.shared, **({"ends": cluster.ends} if cluster.ends else {})}
    directories |= {f"mounts: {address}": path for address, path in cluster.mounts.items()}
    for option, path in directories.items():
        if not any(f"{path}/".startswith(f"{top.rstrip('/')}/") for top in cluster.volumes):
            raise Misconfigured(f"{place}: {option}: {path} is on none of `volumes`, so no pod would have it")


def _check_words(cluster: KubernetesCluster, place: str) -> None:
    if not _NAME.fullmatch(cluster.name):
        raise Misconfigured(
            f"{place}: its Jobs bear its name: use at most 63 letters, digits, '-', '_' and '.'"
        )
    if not _LABEL.fullmatch(cluster.namespace):
        raise Misconfigured(f"{place}: namespace has at most 63 small letters, digits and '-'")
    for text in cluster.tolerations:
        if toleration_of(text) is None:
            raise Misconfigured(
                f"{place}: tolerations: write {text!r} as KEY=VALUE:EFFECT, KEY:EFFECT or KEY"
            )
    unknown = [level for level in cluster.priorities if level not in _LEVELS]
    if unknown:
        raise Misconfigured(
            f"{place}: priorities: there is no {unknown[0]!r}; there are {', '.join(_LEVELS)}"
        )
    numbers = {
        "gpus": cluster.gpus,
        "maxNodes": cluster.max_nodes,
        "user": cluster.user,
        "group": cluster.group,
    }
    for option, number in {**numbers, "unreachableSeconds": cluster.unreachable_seconds}.items():
        if number < 0:
            raise Misconfigured(f"{place}: {option} has to be at least 0")
    if cluster.max_wall_clock and not cluster.longest:
        raise Misconfigured(f"{place}: maxWallClock is not an ISO 8601 duration, such as P1D or PT12H")
