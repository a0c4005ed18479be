"""The pod of one rank: image, first program, volumes, resources, rights. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from shared.core.engine import Order
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.code import code_containers
from shared.engines.kubernetes.job.site import PROGRAMS, RUN, TEMPORARY
from shared.engines.kubernetes.job.start import START
from shared.engines.kubernetes.origins import origin_of
from shared.engines.kubernetes.tolerations import tolerations
from shared.engines.launch import plan as launch
from shared.engines.launch.mounts import image_of

#: Added to the job's own limit, which the program enforces to the second: pulling the image counts, too.
_SLACK = timedelta(hours=1)
#: The container of the job in its pods.
MAIN = "main"
#: Seconds after those of the job, enough to write the record.
_RECORD = 30
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(b|[kmgt](?:i?b)?)?", re.ASCII | re.IGNORECASE)
_POWERS: Mapping[str, int] = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def pod(cluster: KubernetesCluster, order: Order, programs: str) -> dict[str, Any]:
    """The spec of a pod. `programs`: the ConfigMap with its programs."""
    properties = order.document["properties"]
    name, nodes = order.target.name, int(properties["nodeCount"])
    limit = timedelta(seconds=launch.seconds(properties, cluster.longest)) + _SLACK
    volumes = list(_volumes(cluster, properties, programs))
    container = _container(cluster, order, nodes, volumes)
    names = ("programs", "temporary", *(one.volume["name"] for one in directories(cluster)))
    first = code_containers(cluster, order, container, names)
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        # A pod's limit counts from its start on a node; a Job's would include the time in the queue.
        "activeDeadlineSeconds": int(limit.total_seconds()),
        "terminationGracePeriodSeconds": cluster.grace_seconds + _RECORD,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": rights(cluster),
        "tolerations": tolerations(cluster.tolerations, cluster.unreachable_seconds),
        **({"initContainers": first} if first else {}),
        "containers": [container],
        "volumes": [one.volume for one in volumes],
    }
    if nodes > 1:
        spec |= {"subdomain": name, "affinity": _spread(name)}
    if cluster.node_selector:
        spec["nodeSelector"] = dict(cluster.node_selector)
    secrets = [{"name": one} for one in cluster.pull_secrets]
    if credentials(properties):
        secrets.append({"name": pull_secret(name)})
    if secrets:
        spec["imagePullSecrets"] = secrets
    priority = cluster.priorities.get(properties.get("schedulingPriority") or "normal")
    if priority and not cluster.queue:
        spec["priorityClassName"] = priority
    return spec


def credentials(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The job's credentials for the registry of its image; empty if it has none."""
    settings = properties.get("containerSettings") or {}
    return (settings.get("imageSourceRegistry") or {}).get("credentials") or {}


def pull_secret(name: str) -> str:
    """The Secret with those credentials."""
    return f"{name}-pull"


def size(text: str) -> int:
    """The bytes of a size in Docker's notation, such as 256m or 2g."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a size")
    return int(float(match[1]) * 1024 ** _POWERS[(match[2] or "").lower()[:1]])


def _container(
    cluster: KubernetesCluster, order: Order, nodes: int, volumes: Sequence[PodVolume]
) -> dict[str, Any]:
    properties = order.document["properties"]
    has_own = bool(properties.get("containerSettings"))
    amounts = {
        **({"cpu": cluster.cpus} if cluster.cpus else {}),
        **({"memory": cluster.memory} if cluster.memory else {}),
        **({cluster.gpu_resource: str(cluster.gpus)} if cluster.gpus else {}),
    }
    privileges: dict[str, Any] = {"allowPrivilegeEscalation": False}
    if cluster.user:
        privileges["capabilities"] = {"drop": ["ALL"]}
    return {
        "name": MAIN,
        "image": image_of(properties) if has_own else cluster.image,
        "command": ["/bin/sh", f"{PROGRAMS}/{START}"],
        "env": _environment(cluster, order, nodes),
        "envFrom": [{"secretRef": {"name": order.target.name}}],
        "resources": {"limits": amounts, "requests": amounts} if amounts else {},
        "securityContext": privileges,
        "volumeMounts": [one.mount for one in volumes],
    }


def _environment(cluster: KubernetesCluster, order: Order, nodes: int) -> list[dict[str, Any]]:
    records = cluster.layout.attempt(order.target)
    plain = {
        "HOME": TEMPORARY,
        "SLIPWAY_HOME": TEMPORARY,
        "SLIPWAY_PROGRAMS": PROGRAMS,
        "SLIPWAY_NODES": str(nodes),
        **({"SLIPWAY_AGENTS": f"{records}/agents"} if nodes > 1 else {}),
    }
    fields = {RUN: "metadata.uid", "SLIPWAY_ADDRESS": "status.podIP"}
    return [
        *({"name": name, "value": value} for name, value in plain.items()),
        *({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()),
    ]


def rights(cluster: KubernetesCluster) -> dict[str, Any]:
    """The user and rights of its processes."""
    return {
        "runAsUser": cluster.user,
        "runAsGroup": cluster.group,
        "fsGroup": cluster.group,
        "fsGroupChangePolicy": "OnRootMismatch",
        "runAsNonRoot": cluster.user != 0,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _spread(name: str) -> dict[str, Any]:
    """Spread the ranks over nodes, as far as there are enough."""
    term = {
        "labelSelector": {"matchLabels": {"job-name": name}},
        "topologyKey": "kubernetes.io/hostname",
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


class PodVolume(NamedTuple):
    """A volume of the pod, and its directory in the container."""

    volume: dict[str, Any]
    mount: dict[str, Any]


def _volumes(cluster: KubernetesCluster, properties: Mapping[str, Any], programs: str) -> Iterator[PodVolume]:
    """Each volume with its directory in the container."""
    yield program_files(programs)
    yield _volume("temporary", TEMPORARY, {"emptyDir": {}})
    shm = (properties.get("containerSettings") or {}).get("shmSize")
    if shm:
        memory = {"medium": "Memory", "sizeLimit": str(size(shm))}
        yield _volume("shm", "/dev/shm", {"emptyDir": memory})  # noqa: S108 - of the pod
    yield from directories(cluster)


def directories(cluster: KubernetesCluster) -> Iterator[PodVolume]:
    """The cluster's own volumes, which every pod has."""
    for number, (path, text) in enumerate(sorted(cluster.volumes.items())):
        yield _volume(f"volume-{number}", path, origin_of(text) or {})


def program_files(programs: str) -> PodVolume:
    """The programs, from that ConfigMap."""
    return _volume("programs", PROGRAMS, {"configMap": {"name": programs}}, is_read_only=True)


def _volume(name: str, path: str, origin: Mapping[str, Any], *, is_read_only: bool = False) -> PodVolume:
    mount = {"name": name, "mountPath": path, **({"readOnly": True} if is_read_only else {})}
    return PodVolume({"name": name, **origin}, mount)
