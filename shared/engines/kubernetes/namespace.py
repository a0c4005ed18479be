"""Calls for Slipway's objects in the namespace of a cluster: Jobs, pods, events, Workloads, Secrets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from shared.core.errors import EngineError
from shared.core.job import Target
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.code import code_secret
from shared.engines.kubernetes.job.pod import pull_secret
from shared.engines.kubernetes.job.request import CLUSTER, is_in_queue
from shared.engines.kubernetes.translation.observations import CANCELLED
from shared.engines.kubernetes.translation.silence import WHY
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.errors import LacksRight
from shared.engines.kubernetes.wire.objects import token_of
from shared.engines.kubernetes.wire.shapes import EVENT, JOB, NAMED, NODE, POD, checked
from shared.engines.kubernetes.wire.table import Row
from shared.engines.kubernetes.wire.version import Version, version_of
from shared.engines.kubernetes.workloads import Workloads, is_active

#: The label of a Job whose end was recorded: lists leave it out. The Job stays until it is forgotten.
ENDED = "slipway/ended"
#: The change that leaves a Job without pods, also when it is resumed.
_NO_PODS = {"spec": {"parallelism": 0}}
#: Pods that have ended are not listed.
_LIVING = "status.phase!=Succeeded,status.phase!=Failed"

#: The annotation of a pod with its index.
_INDEX = "batch.kubernetes.io/job-completion-index"

#: A pod of a Job and its index, and the only one on a server without indexes.
POD_OF, ONLY_POD = re.compile(r"(.+)-(\d+)-[a-z0-9]{5}", re.ASCII), re.compile(r"(.+)-[a-z0-9]{5}", re.ASCII)

Object = Mapping[str, Any]


class Namespace:
    """The namespace of one cluster, and Slipway's objects in it."""

    def __init__(self, cluster: KubernetesCluster, client: KubernetesClient) -> None:
        self._cluster, self.client = cluster, client
        self._core = f"/api/v1/namespaces/{cluster.namespace}"
        self._jobs = f"/apis/batch/v1/namespaces/{cluster.namespace}/jobs"
        self._selector = f"{CLUSTER}={cluster.name}"
        self._version: Version | None = None
        self.workloads = Workloads(client, cluster.namespace)

    async def version(self) -> Version:
        """The version of the server, read once: a process rarely outlives one."""
        if self._version is None:
            self._version = version_of((await self.client.call("GET", "/version")).body)
        return self._version

    async def job(self, name: str) -> Object | None:
        """The Job of that name, which may be another job's; None if there is none.

        Raises Busy if its name, uid or annotations cannot be read.
        """
        answer = await self.client.call("GET", f"{self._jobs}/{name}", accept=("NotFound",))
        return None if answer.reason else checked(answer.body, NAMED, name)

    async def pods(self, name: str) -> list[Object]:
        """The pods of a Job, including those that are terminating. Raises Busy if one cannot be read."""
        listed = self.client.objects(f"{self._core}/pods", labelSelector=f"job-name={name}")
        return [checked(one, POD, f"a pod of {name}") async for one in listed]

    async def end_orphans(self, target: Target) -> None:
        """Delete the pods of an attempt whose Job is gone."""
        for pod in orphans(await self.pods(target.name), target.token):
            path = f"{self._core}/pods/{pod['metadata']['name']}"
            await self.client.call("DELETE", path, accept=("NotFound",))
        await self._remove_secrets(target.name)

    async def failures(self, name: str = "") -> list[Object]:
        """The events of Jobs whose pods cannot be created, for one Job or all, as far as they can be read."""
        fields = "reason=FailedCreate,involvedObject.kind=Job"
        fields += f",involvedObject.name={name}" if name else ""
        listed = self.client.objects(f"{self._core}/events", fieldSelector=fields)
        return [one async for one in listed if EVENT(one)]

    async def warnings(self, pod: str) -> list[Object]:
        """The events of a pod that say what hinders it, as far as they can be read."""
        fields = f"type=Warning,involvedObject.kind=Pod,involvedObject.name={pod}"
        listed = self.client.objects(f"{self._core}/events", fieldSelector=fields)
        return [one async for one in listed if EVENT(one)]

    async def has_secret(self, name: str) -> bool:
        """Whether the Secret exists that the pods of a Job wait for."""
        answer = await self.client.call("GET", f"{self._core}/secrets/{name}", accept=("NotFound",))
        return not answer.reason

    async def job_rows(self, *, with_metadata: bool) -> list[Row]:
        """The Jobs of the cluster whose ends were not recorded yet, as rows."""
        query = {"labelSelector": f"{self._selector},!{ENDED}"}
        query |= {"includeObject": "Metadata"} if with_metadata else {}
        return [one async for one in self.client.rows(self._jobs, **query)]

    async def jobs(self) -> list[Object]:
        """The same as objects, if they can be read: rows of an old server do not show which have ended."""
        query = {"labelSelector": f"{self._selector},!{ENDED}"}
        return [one async for one in self.client.objects(self._jobs, **query) if JOB(one)]

    async def pod_rows(self) -> list[Row]:
        """The pods of the cluster that have not ended, as rows."""
        query = {"labelSelector": self._selector, "fieldSelector": _LIVING}
        return [one async for one in self.client.rows(f"{self._core}/pods", **query)]

    async def names_with_pods(self) -> set[str]:
        """The names of the Jobs that have pods which have not ended."""
        pod = POD_OF if (await self.version()).is_supported else ONLY_POD
        return {match[1] for row in await self.pod_rows() if (match := pod.fullmatch(row.name))}

    async def node_rows(self) -> list[Row]:
        """The nodes for its pods, as rows. Raises Misconfigured if Slipway's account may not list them."""
        query = {"labelSelector": selector} if (selector := self._node_selector) else {}
        return [one async for one in self.client.rows("/api/v1/nodes", **query)]

    async def largest(self, resource: str) -> int | None:
        """The most of a resource that one of the nodes for its pods has; None if that is not known.

        Nodes may not be listed, or lack their numbers while a device plugin starts.
        """
        query = {"labelSelector": selector} if (selector := self._node_selector) else {}
        try:
            nodes = [one async for one in self.client.objects("/api/v1/nodes", **query)]
        except LacksRight:
            return None
        if not all(map(NODE, nodes)):
            return None
        listed = [(one.get("status") or {}).get("allocatable") or {} for one in nodes]
        amounts = [one[resource] for one in listed if resource in one]
        return max(map(int, amounts)) if amounts and all(map(str.isdecimal, amounts)) else None

    async def stop(self, job: Object, now: str, mark: str = CANCELLED, why: str = "") -> None:
        """End the Job's processes. The Job stays, and so does its name, so that it is never created again.

        `mark`: the annotation that says so; `why` is kept in another one.
        """
        name, is_queued = job["metadata"]["name"], is_in_queue(job)
        body: dict[str, Any] = {} if is_queued else dict(await self._halt())
        if mark not in (job["metadata"].get("annotations") or {}):
            body["metadata"] = {"annotations": {mark: now, **({WHY: why} if why else {})}}
        if body:
            await self._change(name, body)
        if is_queued:
            await self._take_from_queue(job)
        # A pod that is still created would not start without its Secret.
        await self._remove_secrets(name)

    async def _take_from_queue(self, job: Object) -> None:
        """Deactivate its Workload: Kueue would resume a Job that is only suspended.

        While Kueue has not made one, does not show it or does not stop the Job, the Job gets no pods.
        """
        name, spec = job["metadata"]["name"], job.get("spec") or {}
        try:
            workloads = await self.workloads.of_job(job["metadata"]["uid"])
            active = [one for one in workloads if is_active(one)]
            for one in active:
                await self.workloads.deactivate(one)
        except EngineError:
            await self._change(name, _NO_PODS)
            raise
        is_stopped = bool(active) or bool(spec.get("suspend"))  # Kueue has not had the time to suspend it
        if not (workloads and is_stopped) and spec.get("parallelism") != 0:
            await self._change(name, _NO_PODS)

    @property
    def _node_selector(self) -> str:
        return ",".join(f"{key}={value}" for key, value in self._cluster.node_selector.items())

    async def leave_without_pods(self, name: str) -> None:
        """Leave a Job without pods for good."""
        await self._change(name, _NO_PODS)

    async def close_job(self, job: Object) -> None:
        """Remove the secrets of an ended Job, and drop it from lists."""
        name = job["metadata"]["name"]
        await self._remove_secrets(name)
        await self._change(name, {"metadata": {"labels": {ENDED: "true"}}})

    async def delete(self, job: Object) -> None:
        """Delete the Job and everything that it owns, if it is still the same one."""
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": "Background",
            "preconditions": {"uid": job["metadata"]["uid"]},
        }
        path = f"{self._jobs}/{job['metadata']['name']}"
        await self.client.call("DELETE", path, body, accept=("NotFound", "Conflict"))

    async def _halt(self) -> dict[str, Any]:
        """The change of a Job that takes its pods away."""
        is_supported = (await self.version()).is_supported
        return {"spec": {"suspend": True}} if is_supported else _NO_PODS

    async def _change(self, name: str, body: Object) -> None:
        await self.client.call("PATCH", f"{self._jobs}/{name}", body, accept=("NotFound",))

    async def _remove_secrets(self, name: str) -> None:
        paths = [f"{self._core}/secrets/{one}" for one in (name, pull_secret(name), code_secret(name))]
        calls = (self.client.call("DELETE", path, accept=("NotFound",)) for path in paths)
        await asyncio.gather(*calls)


def orphans(pods: list[Object], token: str) -> list[Object]:
    """The pods of an attempt that go on although its Job is gone: a deletion may leave them.

    Those that are ending, and those of another attempt, are not among them.
    """
    return [pod for pod in pods if _goes_on(pod) and token_of(pod) == token]


def _goes_on(pod: Object) -> bool:
    """Whether a pod has not ended, and was not asked to."""
    is_left = (pod.get("status") or {}).get("phase") in ("Pending", "Running")
    return is_left and "deletionTimestamp" not in (pod.get("metadata") or {})


def index_of(pod: Object) -> int:
    """The number of a pod among those of its Job; 0 on a server without indexes."""
    annotations = pod["metadata"].get("annotations") or {}
    text = str(annotations.get(_INDEX) or "0")
    return int(text) if text.isdecimal() else 0
