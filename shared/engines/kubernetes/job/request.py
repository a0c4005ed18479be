"""The objects of an attempt, for the engine, which sends them, and for explain, which shows them. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from shared.core.engine import Order, Submission
from shared.core.errors import Misconfigured
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.code import PROGRAM, code_secret, code_values
from shared.engines.kubernetes.job.pod import credentials, pod, pull_secret
from shared.engines.kubernetes.job.site import PLACE, site
from shared.engines.kubernetes.job.start import ALONE, FORGET, SCRIPT, START, USAGE
from shared.engines.kubernetes.wire.objects import TOKEN
from shared.engines.kubernetes.wire.version import Version
from shared.engines.launch import alone
from shared.engines.launch import plan as launch

#: The labels of every object that Slipway creates.
MANAGED, CLUSTER = {"app.kubernetes.io/managed-by": "slipway"}, "slipway/cluster"
#: Kueue's label for the LocalQueue of a Job.
_QUEUE = "kueue.x-k8s.io/queue-name"
#: Stands for values that are known or chosen at each submission.
LATER = "<known at submission>"
#: The registry of images that name none.
_DOCKER_HUB = "https://index.docker.io/v1/"
#: If one rank is evicted or fails, the whole Job ends: the others would wait for it for ever.
_FAILURES = [
    {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    # The empty list has no effect; the schemas of 1.26 and some later versions require one.
    {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}, "onPodConditions": []},
]
#: Cluster Autoscaler and Karpenter empty nodes that have little to do, and would end a run for that.
_UNDISTURBED = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}


def job(cluster: KubernetesCluster, order: Order, version: Version) -> Submission:
    """POST of the Job. Kubernetes never deletes it by itself: a repeated submission has to find it."""
    properties = order.document["properties"]
    nodes = int(properties["nodeCount"])
    if nodes > 1 and not version.has_success_policy:
        raise Misconfigured(
            f"jobs with several nodes need Kubernetes 1.31 or newer; {cluster.name} has {version}"
        )
    labels = _labels(cluster)
    annotations = {**_UNDISTURBED, TOKEN: order.target.token}
    metadata_of_pods = {"labels": labels, "annotations": annotations}
    spec: dict[str, Any] = {
        "parallelism": nodes,
        "completions": nodes,
        "backoffLimit": 0,
        "template": {"metadata": metadata_of_pods, "spec": pod(cluster, order, programs_name())},
    }
    if version.is_supported:
        spec |= {"completionMode": "Indexed", "podFailurePolicy": {"rules": _FAILURES}}
        spec |= {"suspend": True} if cluster.queue else {}
    if nodes > 1:
        spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    metadata = _metadata(order, order.target.name, {**labels, **_queue(cluster, properties)})
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    return Submission("POST", f"/apis/batch/v1/namespaces/{cluster.namespace}/jobs", body)


def is_in_queue(job: Mapping[str, Any]) -> bool:
    """Whether Kueue decides when a Job runs, as its webhook may have chosen, too."""
    return _QUEUE in ((job.get("metadata") or {}).get("labels") or {})


def programs(cluster: KubernetesCluster) -> Submission:
    """POST of the ConfigMap with the programs. All jobs share it, because it is far larger than they are."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": programs_name(), "labels": dict(MANAGED)},
        "immutable": True,
        "data": _texts(),
    }
    return Submission("POST", _core(cluster, "configmaps"), body)


@cache
def programs_name() -> str:
    """The ConfigMap's name, derived from its texts."""
    return f"slipway-programs-{hashlib.sha256(json.dumps(_texts()).encode()).hexdigest()[:12]}"


def belongings(
    cluster: KubernetesCluster, order: Order, uid: str = LATER, once: str = LATER
) -> tuple[Submission, ...]:
    """POST of the objects that the Job with that uid owns. `once`: the key of its pods' agents.

    They are created after the Job, whose name decides which submission wins; the pods wait for the Secrets.
    """
    properties, name = order.document["properties"], order.target.name
    nodes = int(properties["nodeCount"])
    values = _environment(cluster, order)
    values |= {"SLIPWAY_AGENT_KEY": once} if nodes > 1 else {}
    kinds = [_secret(cluster, order, name, "Opaque", values)]
    if order.code:
        kinds.append(_secret(cluster, order, code_secret(name), "Opaque", code_values(cluster, order.code)))
    if credentials(properties):
        login = {".dockerconfigjson": json.dumps(_login(properties))}
        kinds.append(_secret(cluster, order, pull_secret(name), "kubernetes.io/dockerconfigjson", login))
    if nodes > 1:
        kinds.append(_service(cluster, order))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid}
    for one in kinds:
        one.body["metadata"]["ownerReferences"] = [owner]
    return tuple(kinds)


def _environment(cluster: KubernetesCluster, order: Order) -> dict[str, str]:
    """The input of its pods' program, including secret values."""
    its_site, token = site(cluster, order), order.target.token
    if alone.is_alone(order.document["properties"]):
        return alone.environment(its_site, order, token)
    # In shell form as well: in an image without Python, that program reports the problem.
    return {**launch.environment(its_site, order, token), **alone.claim(its_site, order, token)}


def _secret(
    cluster: KubernetesCluster, order: Order, name: str, kind: str, values: Mapping[str, str]
) -> Submission:
    packed = {
        key: binascii.b2a_base64(value.encode(), newline=False).decode() for key, value in values.items()
    }
    metadata = _metadata(order, name, _labels(cluster))
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": packed}
    return Submission("POST", _core(cluster, "secrets"), body)


def _service(cluster: KubernetesCluster, order: Order) -> Submission:
    """The names of the ranks, JOB-INDEX.JOB, even before they are ready."""
    name = order.target.name
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job-name": name}}
    metadata = _metadata(order, name, _labels(cluster))
    body = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    return Submission("POST", _core(cluster, "services"), body)


def _login(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    registry, login = properties["containerSettings"]["imageSourceRegistry"], credentials(properties)
    address = str(registry.get("serverUrl") or "")
    server = (urlsplit(address).netloc if "://" in address else address.partition("/")[0]) or _DOCKER_HUB
    user, password = str(login.get("username") or ""), str(login.get("password") or "")
    packed = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"auths": {server: {"username": user, "password": password, "auth": packed}}}


def _queue(cluster: KubernetesCluster, properties: Mapping[str, Any]) -> dict[str, str]:
    if not cluster.queue:
        return {}
    priority = cluster.priorities.get(properties.get("schedulingPriority") or "normal")
    return {
        _QUEUE: cluster.queue,
        **({"kueue.x-k8s.io/priority-class": priority} if priority else {}),
    }


def _metadata(order: Order, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {"name": name, "labels": dict(labels), "annotations": {TOKEN: order.target.token}}


def _labels(cluster: KubernetesCluster) -> dict[str, str]:
    return {**MANAGED, CLUSTER: cluster.name}


def _core(cluster: KubernetesCluster, kind: str) -> str:
    return f"/api/v1/namespaces/{cluster.namespace}/{kind}"


@cache
def _texts() -> dict[str, str]:
    return {
        "run.py": launch.script(),
        "spread.py": launch.spreading(),
        START: SCRIPT,
        ALONE: alone.script(),
        USAGE: alone.sampling(),
        PROGRAM: launch.bringing(),
        PLACE: alone.placing(),
        FORGET: alone.forgetting(),
    }
