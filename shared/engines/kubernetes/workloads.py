"""Kueue's Workloads in the namespace of a cluster. Without Kueue there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.errors import EngineError, NotFound
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.shapes import GROUP, WORKLOAD, checked

#: Kueue's label for the Job of a Workload.
_JOB_UID = "kueue.x-k8s.io/job-uid"
#: A server's answer for an unknown group of the API, which is not a Status.
NO_GROUP = ("NotFound", "404")

Object = Mapping[str, Any]


class Workloads:
    """The Workloads of one namespace."""

    def __init__(self, client: KubernetesClient, namespace: str) -> None:
        self._client, self._namespace, self._known_path = client, namespace, ""

    async def has_kueue(self) -> bool:
        """Whether Kueue is installed on the cluster."""
        return bool(await self._path())

    async def by_job(self) -> dict[str, Object]:
        """Those of all Jobs, by the names of the Jobs. One that cannot be read is left out."""
        listed = [one for one in await self._listed(_JOB_UID) if WORKLOAD(one)]
        return {owner: one for one in listed if (owner := _owner(one))}

    async def of_job(self, uid: str) -> list[Object]:
        """Those of one Job: none until Kueue has seen it. Raises Busy if one cannot be read."""
        return [checked(one, WORKLOAD, "a Workload") for one in await self._listed(f"{_JOB_UID}={uid}")]

    async def deactivate(self, workload: Object) -> None:
        """Take its quota back, and keep it from getting quota again."""
        path = f"{await self._path()}/{workload['metadata']['name']}"
        await self._client.call("PATCH", path, {"spec": {"active": False}}, accept=("NotFound",))

    async def _listed(self, labels: str) -> list[Object]:
        path = await self._path()
        try:
            return [one async for one in self._client.objects(path, labelSelector=labels)] if path else []
        except NotFound:
            self._known_path = ""  # Kueue was removed since then
            return []
        except EngineError:
            self._known_path = ""  # it may prefer another version by now
            raise

    async def _path(self) -> str:
        """Their path, in the version that this Kueue prefers; "" where there is no Kueue."""
        if not self._known_path:
            answer = await self._client.call("GET", "/apis/kueue.x-k8s.io", accept=NO_GROUP)
            if answer.reason:
                return ""
            group = checked(answer.body, GROUP, "Kueue")
            preferred = (group.get("preferredVersion") or {}).get("groupVersion") or "kueue.x-k8s.io/v1beta1"
            self._known_path = f"/apis/{preferred}/namespaces/{self._namespace}/workloads"
        return self._known_path


def is_active(workload: Object) -> bool:
    """Whether Kueue gives it quota, now or later."""
    return (workload.get("spec") or {}).get("active") is not False


def _owner(document: Object) -> str:
    """The name of the Job that owns the object; "" if none does."""
    owners = document["metadata"].get("ownerReferences") or ()
    return next((str(one.get("name")) for one in owners if one.get("kind") == "Job"), "")
