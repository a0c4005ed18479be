"""The defaults that a server adds to a Job, and the pods of a Job."""

from __future__ import annotations

import copy
import secrets
import string
from typing import Any

from tests.doubles.kubernetes.checks import NEWER
from tests.doubles.kubernetes.object_store import Object

_LETTERS = string.ascii_lowercase + string.digits
_INDEX = "batch.kubernetes.io/job-completion-index"


def defaulted(document: Object, uid: str, *, is_old: bool) -> Object:
    """The Job as the server keeps it; an old server leaves out unknown fields."""
    job = copy.deepcopy(document)
    spec, name = job["spec"], job["metadata"]["name"]
    if is_old:
        job["spec"] = spec = {key: value for key, value in spec.items() if key not in NEWER}
    else:
        policy = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
        spec |= {"suspend": spec.get("suspend", False), "podReplacementPolicy": policy}
        spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("parallelism", 1)
    spec.setdefault("completions", 1)
    spec.setdefault("backoffLimit", 6)
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    template = spec["template"].setdefault("metadata", {})
    template["labels"] = {**(template.get("labels") or {}), "controller-uid": uid, "job-name": name}
    pod = spec["template"]["spec"]
    defaults = {
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
    }
    spec["template"]["spec"] = {**defaults, **pod}
    for container in containers_of(spec["template"]["spec"]):
        container.setdefault("imagePullPolicy", "Always")
        _quantities(container.get("resources") or {})
    job.setdefault("status", {})
    return job


def pod_of(job: Object, index: int) -> Object:
    """The pod for one index of a Job."""
    metadata, template = job["metadata"], job["spec"]["template"]
    is_indexed = job["spec"].get("completionMode") == "Indexed"
    base = f"{metadata['name']}-{index}" if is_indexed else metadata["name"]
    spec = copy.deepcopy(template["spec"])
    labels = dict(template["metadata"]["labels"])
    if is_indexed:
        labels[_INDEX] = str(index)
        spec["hostname"] = base
        for container in containers_of(spec):
            container.setdefault("env", []).append({"name": "JOB_COMPLETION_INDEX", "value": str(index)})
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    name = f"{base}-{''.join(secrets.choice(_LETTERS) for _ in range(5))}"
    copied = {"labels": labels, "annotations": dict(template["metadata"].get("annotations") or {})}
    return {
        "metadata": {"name": name, "generateName": f"{base}-", **copied, "ownerReferences": [owner]},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def containers_of(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """All containers of a pod, those that run first before the others."""
    return [*(pod.get("initContainers") or ()), *pod["containers"]]


def index_of(pod: Object) -> int:
    return int(pod["metadata"]["labels"].get(_INDEX, 0))


def gpus(pod: dict[str, Any]) -> int:
    """The number of GPUs that a pod requests."""
    limits = [(one.get("resources") or {}).get("limits") or {} for one in pod["containers"]]
    return sum(int(value) for one in limits for key, value in one.items() if "/" in key)


def _quantities(resources: dict[str, Any]) -> None:
    for kind in ("limits", "requests"):
        if kind in resources:
            resources[kind] = {key: str(value) for key, value in resources[kind].items()}
