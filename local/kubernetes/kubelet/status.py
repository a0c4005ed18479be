"""The status that a node reports of itself and of its pods, in Kubernetes' words. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

_SELF = "process-kubelet"
_GIB = 1 << 30


class End(NamedTuple):
    """How a container ended, and why the pod did if not because of that."""

    code: int
    reason: str
    message: str = ""
    #: of the pod; "" if the status of its container is enough
    pod_reason: str = ""

    @property
    def phase(self) -> str:
        """Of a pod that is never restarted."""
        return "Succeeded" if self.code == 0 and not self.pod_reason else "Failed"


def ended(code: int) -> End:
    """The end of a container that ended by itself."""
    return End(code, "Completed" if code == 0 else "Error")


def now() -> str:
    """A time in Kubernetes' form."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def lease(name: str, seconds: int) -> dict[str, Any]:
    """The sign of life."""
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": name, "leaseDurationSeconds": 4 * seconds, "renewTime": renewed}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": spec,
    }


def node(name: str) -> dict[str, Any]:
    """The Node, with the labels by which pods ask for one."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def node_status(name: str, port: int, gpus: int, pods: int) -> dict[str, Any]:
    """The node's resources, and the condition that it is ready."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _GIB
    amounts = {
        "cpu": str(os.cpu_count() or 1),
        "memory": f"{memory}Gi",
        "ephemeral-storage": "100Gi",
        "pods": str(pods),
    }
    amounts |= {"nvidia.com/gpu": str(gpus)} if gpus else {}
    words = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion")
    info = dict.fromkeys((*words, "kubeletVersion", "kubeProxyVersion"), _SELF)
    status = {
        "capacity": amounts,
        "allocatable": amounts,
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {**info, "operatingSystem": "linux", "architecture": "amd64"},
        **heartbeat()["status"],
    }
    return {"status": status}


def heartbeat() -> dict[str, Any]:
    """That it is still ready."""
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "pods are processes"}
    return {"status": {"conditions": [{**ready, "lastHeartbeatTime": now()}]}}


def waiting(pod: Mapping[str, Any], reason: str, message: str) -> dict[str, Any]:
    """A pod whose containers cannot be started yet."""
    states = _alike(pod, {"waiting": {"reason": reason, "message": message}})
    return _status(pod, "Pending", states, is_ready=False)


def running(pod: Mapping[str, Any], address: str, started: str) -> dict[str, Any]:
    """A pod that runs."""
    body = _status(pod, "Running", _alike(pod, {"running": {"startedAt": started}}), is_ready=True)
    body["status"] |= {"podIP": address, "podIPs": [{"ip": address}], "startTime": started}
    return body


def terminated(pod: Mapping[str, Any], ends: Sequence[End], started: str) -> dict[str, Any]:
    """A pod that is over, since all of its containers are. It succeeded only if all did."""
    worst = next((end for end in ends if end.phase == "Failed"), ends[0])
    states = [{"terminated": state_of(end, started)} for end in ends]
    body = _status(pod, worst.phase, states, is_ready=False)
    body["status"]["startTime"] = started
    if worst.pod_reason:
        body["status"] |= {"reason": worst.pod_reason, "message": worst.message}
    return body


def state_of(end: End, started: str) -> dict[str, Any]:
    """The state of a container that has ended."""
    state = {"exitCode": end.code, "reason": end.reason, "startedAt": started, "finishedAt": now()}
    return state | ({"message": end.message} if end.message else {})


_INITIALIZING = {"waiting": {"reason": "PodInitializing"}}


def initializing(
    pod: Mapping[str, Any], container: Mapping[str, Any], state: Mapping[str, Any]
) -> dict[str, Any]:
    """A pod of which one of the first containers runs, or has ended."""
    body = _status(pod, "Pending", _alike(pod, _INITIALIZING), is_ready=False, is_initialized=False)
    body["status"]["initContainerStatuses"] = [_of_container(pod, container, state, is_ready=False)]
    return body


def failed_first(pod: Mapping[str, Any], end: End) -> dict[str, Any]:
    """A pod that is over because one of its first containers failed: the main one never started."""
    body = _status(pod, "Failed", _alike(pod, _INITIALIZING), is_ready=False, is_initialized=False)
    if end.pod_reason:
        body["status"] |= {"reason": end.pod_reason, "message": end.message}
    return body


def _alike(pod: Mapping[str, Any], state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One state for all containers of a pod."""
    return [state] * len(pod["spec"]["containers"])


def _status(
    pod: Mapping[str, Any],
    phase: str,
    states: Sequence[Mapping[str, Any]],
    *,
    is_ready: bool,
    is_initialized: bool = True,
) -> dict[str, Any]:
    at, uid = now(), pod["metadata"]["uid"]
    words = {"Initialized": is_initialized, "Ready": is_ready, "ContainersReady": is_ready}
    conditions = [
        {"type": kind, "status": str(is_so), "lastTransitionTime": at} for kind, is_so in words.items()
    ]
    status = {"phase": phase, "hostIP": "127.0.0.1", "conditions": conditions}
    pairs = zip(pod["spec"]["containers"], states, strict=True)
    statuses = [_of_container(pod, container, state, is_ready=is_ready) for container, state in pairs]
    return {"metadata": {"uid": uid}, "status": {**status, "containerStatuses": statuses}}


def _of_container(
    pod: Mapping[str, Any], container: Mapping[str, Any], state: Mapping[str, Any], *, is_ready: bool
) -> dict[str, Any]:
    of_container = {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": is_ready,
        "started": is_ready,
        "restartCount": 0,
        "state": state,
    }
    if "waiting" not in state:
        of_container["containerID"] = f"process://{pod['metadata']['uid']}"
    return of_container
