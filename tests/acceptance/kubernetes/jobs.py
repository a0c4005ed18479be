"""Jobs that a test makes by hand, without any code of an engine."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from local.kubernetes.api import Api, Refused
from local.patience import Patience

#: Seconds without any change of what is looked at.
PATIENCE = 120.0
_NOT_FOUND = 404
#: Has to have a shell; the nodes of the cluster here have one image, which is this machine.
IMAGE = os.environ.get("SLIPWAY_TESTIMAGE", "busybox")


class Jobs:
    """Those of one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        self.api = api
        self.namespace = namespace
        self._place = f"namespaces/{namespace}"

    def path(self, kind: str, name: str = "") -> str:
        """Of objects of the namespace."""
        group = "/apis/batch/v1" if kind == "jobs" else "/api/v1"
        return f"{group}/{self._place}/{kind}" + (f"/{name}" if name else "")

    async def make(self, kind: str, body: Mapping[str, Any]) -> str:
        """An object of a new name; the name."""
        name = f"t-{uuid.uuid4().hex[:12]}"
        await self.api.insist("POST", self.path(kind), {**body, "metadata": {"name": name}})
        return name

    async def start(self, script: str, *, pod: Mapping[str, Any] | None = None, **container: Any) -> str:
        """A Job whose only pod runs the script; its name."""
        return await self.make("jobs", job(script, pod=pod, **container))

    async def end_of(self, name: str) -> str:
        """The word by which a Job has ended: Complete or Failed."""
        done = await self.until("jobs", name, lambda job: bool(_ends(job)))
        return _ends(done)[0]

    async def until(
        self, kind: str, name: str, is_so: Callable[[Mapping[str, Any]], bool]
    ) -> Mapping[str, Any]:
        """An object, once it is so."""
        patience = Patience(PATIENCE)
        while True:
            answer = await self.api.insist("GET", self.path(kind, name))
            if is_so(answer):
                return dict(answer)
            assert not patience.is_over(answer.get("status")), answer
            await asyncio.sleep(0.1)

    async def pod_of(self, name: str, is_so: Callable[[Mapping[str, Any]], bool] = bool) -> Mapping[str, Any]:
        """The only pod of a Job, once there is one and it is so."""
        patience = Patience(PATIENCE)
        while True:
            answer = await self.api.insist("GET", f"{self.path('pods')}?labelSelector=job-name%3D{name}")
            pods = [pod for pod in answer["items"] if is_so(pod)]
            if pods:
                assert len(answer["items"]) == 1, answer["items"]
                return dict(pods[0])
            assert not patience.is_over([pod["status"] for pod in answer["items"]]), answer["items"]
            await asyncio.sleep(0.1)

    async def log_of(self, name: str, query: str = "") -> str:
        """What the pod of a Job wrote."""
        pod = await self.pod_of(name)
        return str(await self.api.insist("GET", f"{self.path('pods', pod['metadata']['name'])}/log?{query}"))

    async def wrote(self, path: str, text: str, query: str = "") -> None:
        """Wait until the log of a pod has it."""
        patience = Patience(PATIENCE)
        while text not in (log := str(await self.api.insist("GET", f"{path}/log?{query}"))):
            assert not patience.is_over(log), log
            await asyncio.sleep(0.1)

    async def find(self, path: str) -> Any:
        """An object; None where it is gone."""
        try:
            return await self.api.insist("GET", path)
        except Refused as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    async def delete(self, name: str) -> None:
        """A Job with its pods."""
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        await self.api.insist("DELETE", self.path("jobs", name), body)


def job(script: str, *, pod: Mapping[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    """A Job as a person writes it, without its name."""
    main = {"name": "main", "image": IMAGE, "command": ["/bin/sh", "-c", script], **container}
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "containers": [main],
        **(pod or {}),
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"backoffLimit": 0, "template": {"spec": spec}}}


def is_running(pod: Mapping[str, Any]) -> bool:
    """Whether its container runs."""
    return bool(pod["status"].get("phase") == "Running")


def code_of(pod: Mapping[str, Any]) -> int:
    """The exit code of its container."""
    return int(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"])


def waits_for(pod: Mapping[str, Any]) -> str:
    """Why its container cannot be started; "" where it can."""
    statuses = pod["status"].get("containerStatuses") or [{"state": {}}]
    return str(statuses[0]["state"].get("waiting", {}).get("message", ""))


def _ends(job: Mapping[str, Any]) -> list[str]:
    conditions = job.get("status", {}).get("conditions") or ()
    words = ("Complete", "Failed")
    return [one["type"] for one in conditions if one["type"] in words and one["status"] == "True"]
