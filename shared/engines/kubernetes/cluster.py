"""The configuration of one cluster on Kubernetes. Pure: read from JSON, every mistake named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.core.errors import Misconfigured
from shared.engines.common_options import CommonOptions, check_options
from shared.engines.kubernetes.forms import NAME, refusals
from shared.engines.kubernetes.origins import origin_of
from shared.engines.kubernetes.tolerations import toleration_of
from shared.engines.launch.layout import Layout
from shared.engines.options import cluster_of, each_cluster

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_LEVELS = ("low", "normal", "high")


@dataclass(frozen=True)
class KubernetesCluster(CommonOptions):
    """A namespace of a cluster. Paths are those of the pods."""

    name: str
    #: a directory on a volume that all pods share, for claims, records, and the files by which ranks meet
    shared: str
    #: directory of the pods → its volume: pvc:NAME, nfs:HOST:/EXPORT, or azurefile:SECRET/SHARE
    volumes: Mapping[str, str]
    #: the image of jobs without containerSettings; toolkits and several nodes need python3 and bash in it
    image: str
    namespace: str = "slipway"
    #: the device plugin's name for a GPU, such as amd.com/gpu or nvidia.com/mig-1g.10gb
    gpu_resource: str = "nvidia.com/gpu"
    #: of a pod, as Kubernetes writes them: "8", "56Gi"; "" for no limit
    cpus: str = ""
    memory: str = ""
    #: labels of the nodes for jobs
    node_selector: Mapping[str, str] = field(default_factory=dict)
    #: taints that jobs tolerate: KEY=VALUE:EFFECT, KEY:EFFECT, or KEY
    tolerations: Sequence[str] = ()
    #: seconds for which a pod stays on a node that does not answer
    unreachable_seconds: int = 60
    #: schedulingPriority → PriorityClass; with `queue`, WorkloadPriorityClass
    priorities: Mapping[str, str] = field(default_factory=dict)
    #: whether an autoscaler adds nodes while jobs wait
    autoscales: bool = False
    #: whether the API server accepts the token of the app's Azure identity, as AKS does
    entra: bool = False
    #: a LocalQueue of Kueue; "" for none
    queue: str = ""
    #: Secrets of the namespace with credentials for registries
    pull_secrets: Sequence[str] = ()
    #: the user and group of a job's processes; 0 for root
    user: int = 1000
    group: int = 1000
    #: whether people may enter running jobs, with `kubectl` and rights of their own
    enter: bool = False

    @property
    def layout(self) -> Layout:
        """Where attempts keep their records."""
        return Layout("kubernetes", self.name, self.shared)


def clusters_from(document: Any, setting: str) -> dict[str, KubernetesCluster]:
    """The clusters of a JSON object: name → options in camelCase. Raises Misconfigured."""
    return {name: _cluster(name, options, place) for name, options, place in each_cluster(document, setting)}


def _cluster(name: str, options: Any, place: str) -> KubernetesCluster:
    cluster = cluster_of(KubernetesCluster, name, options, place, needed=("shared", "volumes", "image"))
    _check_paths(cluster, place)
    _check_words(cluster, place)
    return cluster


def _check_paths(cluster: KubernetesCluster, place: str) -> None:
    """Refuse paths that would fail at a job. Raises Misconfigured."""
    check_options(
        cluster,
        place,
        paths=(cluster.shared, *cluster.volumes, *cluster.mounts.values()),
        numbers={
            "user": cluster.user,
            "group": cluster.group,
            "unreachableSeconds": cluster.unreachable_seconds,
        },
    )
    for path, text in cluster.volumes.items():
        if origin_of(text) is None:
            raise Misconfigured(
                f"{place}: volumes: {path}: write pvc:NAME, nfs:HOST:/EXPORT or azurefile:SECRET/SHARE"
            )
    directories = {"shared": cluster.shared, **({"ends": cluster.ends} if cluster.ends else {})}
    directories |= {f"mounts: {address}": path for address, path in cluster.mounts.items()}
    for option, path in directories.items():
        if not any(f"{path}/".startswith(f"{top.rstrip('/')}/") for top in cluster.volumes):
            raise Misconfigured(f"{place}: {option}: {path} is on none of `volumes`, so no pod would have it")


def _check_words(cluster: KubernetesCluster, place: str) -> None:
    if not NAME.fullmatch(cluster.name):
        raise Misconfigured(
            f"{place}: its Jobs bear its name: use at most 63 letters, digits, '-', '_' and '.'"
        )
    if not _LABEL.fullmatch(cluster.namespace):
        raise Misconfigured(f"{place}: namespace has at most 63 small letters, digits and '-'")
    amounts = {"cpus": cluster.cpus, "memory": cluster.memory}
    objects = {"pullSecrets": cluster.pull_secrets, "priorities": tuple(cluster.priorities.values())}
    for text in refusals(amounts, cluster.gpu_resource, cluster.node_selector, objects):
        raise Misconfigured(f"{place}: {text}")
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
