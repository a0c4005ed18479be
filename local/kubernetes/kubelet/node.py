"""The node: its Lease, and the pods that the scheduler gives to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confined.removal import remove
from local.kubernetes.api import MERGE, STRATEGIC, Api, Refused, Unreachable
from local.kubernetes.kubelet import status
from local.kubernetes.kubelet.pod import Pod

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_AGAIN = 0.5
_NOT_FOUND = 404
#: Of all pods: they share the network of this machine.
_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a node."""

    name: str
    folder: Path
    port: int
    gpus: int
    pods: int
    #: PATH of pods
    path: str
    #: between two signs of life
    lease_seconds: int


class Node:
    """One node, until its process ends."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self._api = api
        self._settings = settings
        #: by uid
        self._pods: dict[str, Pod] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def find(self, namespace: str, name: str) -> Pod | None:
        """A pod of the node, also one that is over, until it is deleted."""
        return self._pods.get(self._uids.get((namespace, name), ""))

    async def register(self) -> None:
        """Register the node, with its resources. Raises Refused."""
        settings = self._settings
        await self._api.make("/api/v1/nodes", status.node(settings.name))
        body = status.node_status(settings.name, settings.port, settings.gpus, settings.pods)
        await self._api.insist("PATCH", f"/api/v1/nodes/{settings.name}/status", body, MERGE)
        await self._renew()

    async def beat(self) -> None:
        """Show signs of life for ever."""
        path = f"/api/v1/nodes/{self._settings.name}/status"
        while True:
            await asyncio.sleep(self._settings.lease_seconds)
            await self._renew()
            await self._api.insist("PATCH", path, status.heartbeat(), STRATEGIC)

    async def work(self) -> None:
        """Run the pods that are assigned to it, forever."""
        while True:
            try:
                await self._follow(await self._list())
            except Unreachable:
                await asyncio.sleep(_AGAIN)

    async def _renew(self) -> None:
        name = self._settings.name
        body = status.lease(name, self._settings.lease_seconds)
        try:
            await self._api.insist("PATCH", f"{_LEASES}/{name}", {"spec": body["spec"]}, MERGE)
        except Refused as error:
            if error.status != _NOT_FOUND:
                raise
            await self._api.make(_LEASES, body)

    @property
    def _mine(self) -> str:
        return f"fieldSelector=spec.nodeName%3D{self._settings.name}"

    async def _list(self) -> str:
        """Take note of all pods of the node; the version of the list."""
        listing = await self._api.insist("GET", f"/api/v1/pods?{self._mine}")
        for pod in listing["items"]:
            self._see(pod)
        present = {pod["metadata"]["uid"] for pod in listing["items"]}
        for uid in [*self._pods]:
            if uid not in present:
                self._forget(uid)
        self._clear(present)
        return str(listing["metadata"]["resourceVersion"])

    async def _follow(self, version: str) -> None:
        async for event in self._api.watch(
            "/api/v1/pods", f"{self._mine}&allowWatchBookmarks=true&resourceVersion={version}"
        ):
            if event["type"] == "ERROR":
                return
            if event["type"] == "DELETED":
                self._forget(event["object"]["metadata"]["uid"])
            elif event["type"] != "BOOKMARK":
                self._see(event["object"])

    def _see(self, pod: Mapping[str, Any]) -> None:
        meta = pod["metadata"]
        if meta["uid"] not in self._pods:
            folder = self._settings.folder / meta["uid"]
            folder.mkdir(parents=True, exist_ok=True)
            self._pods[meta["uid"]] = Pod(self._api, pod, folder, _ADDRESS, self._settings.path)
        self._uids[meta["namespace"], meta["name"]] = meta["uid"]
        self._pods[meta["uid"]].see(pod)

    def _forget(self, uid: str) -> None:
        pod = self._pods.pop(uid, None)
        if pod is not None:
            task = asyncio.create_task(pod.vanish())
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    def _clear(self, present: set[str]) -> None:
        """Remove the leftovers of pods that were deleted while the node was away."""
        for folder in self._settings.folder.iterdir():
            if folder.name not in present:
                remove(folder)
