"""One pod on its node, from when it was given to the node to when it is gone."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confined.removal import remove
from local.kubernetes.api import STRATEGIC, Api, Refused, Unreachable
from local.kubernetes.kubelet import status
from local.kubernetes.kubelet.container_process import ContainerProcess
from local.kubernetes.kubelet.environment import NotYet, environment, expand, hostname
from local.kubernetes.kubelet.running_container import RunningContainer
from local.kubernetes.kubelet.volumes import mounts

#: Seconds until the objects that a pod waits for are looked up again.
_AGAIN = 0.5
_GRACE = 30
_KILLED = 137
_ABSENT = (404, 409)


class Pod:
    """`folder` is its own on the node, and tells a node that was started again what it had begun."""

    def __init__(self, api: Api, pod: Mapping[str, Any], folder: Path, address: str, path: str) -> None:
        self._api = api
        self._pod = pod
        self._folder = folder
        self.address = address
        self._path = path
        self._stopping, self._over = asyncio.Event(), asyncio.Event()
        self._grace, self._started = float(_GRACE), ""
        #: by the name of the container
        self._processes: dict[str, ContainerProcess] = {}
        self._task = asyncio.create_task(self._live(), name=pod["metadata"]["name"])
        self._task.add_done_callback(_report)

    def log(self, container: str) -> Path:
        """The output of a container."""
        return self._folder / f"log-{container}"

    @property
    def is_over(self) -> bool:
        """Whether it writes no more into its log."""
        return self._over.is_set()

    def container(self, name: str) -> RunningContainer | None:
        """The container of that name while it runs, for commands beside its own."""
        process = self._processes.get(name)
        first = process.first if process else None
        return RunningContainer(first, process.order) if process and first else None

    def see(self, pod: Mapping[str, Any]) -> None:
        """What the API server has of it now: it may have to end."""
        self._pod = pod
        if pod["metadata"].get("deletionTimestamp"):
            self._grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
            self._stopping.set()

    async def vanish(self) -> None:
        """It is no longer there: end it at once, and forget it."""
        self._grace = 0.0
        self._stopping.set()
        await asyncio.wait({self._task})
        await asyncio.to_thread(remove, self._folder)

    async def _live(self) -> None:
        """Run it to its end, and let go of its name when it was deleted."""
        if self._pod["status"].get("phase") not in ("Succeeded", "Failed"):
            end = await self._run()
            if end is not None:
                await self._say(end)
        self._over.set()
        await self._stopping.wait()
        await self._release()

    async def _run(self) -> dict[str, Any] | None:
        """What is to be said of its end; None where it was deleted before it began."""
        began, containers = self._folder / "began", self._pod["spec"]["containers"]
        if began.exists():  # by this node, before it lost its power
            self._started = began.read_text()
            lost = status.End(_KILLED, "ContainerStatusUnknown", "the node was started again")
            return status.terminated(self._pod, [lost] * len(containers), self._started)
        for first in self._pod["spec"].get("initContainers") or ():
            end = await self._run_first(first)
            if end is None:
                return None
            if end.code:
                return status.failed_first(self._pod, end)
        orders = [order for one in containers if (order := await self._order(one)) is not None]
        if len(orders) < len(containers):
            return None
        self._started = status.now()
        began.write_text(self._started)
        for container, order in zip(containers, orders, strict=True):
            name = container["name"]
            self._processes[name] = await ContainerProcess.start(order, self.log(name))
        await self._say(status.running(self._pod, self.address, self._started))
        ends = await asyncio.gather(*(self._until_over(one) for one in self._processes.values()))
        return status.terminated(self._pod, ends, self._started)

    async def _run_first(self, container: Mapping[str, Any]) -> status.End | None:
        """Run a container that has to end before the main one starts; None where the pod was deleted."""
        order = await self._order(container)
        if order is None:
            return None
        began, log = status.now(), self.log(container["name"])
        process = await ContainerProcess.start(order, log)
        await self._say(status.initializing(self._pod, container, {"running": {"startedAt": began}}))
        end = await self._until_over(process)
        if self._stopping.is_set():
            return None
        if end.code and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
            end = end._replace(message=await asyncio.to_thread(_last_lines, log))
        ended = {"terminated": status.state_of(end, began)}
        await self._say(status.initializing(self._pod, container, ended))
        return end

    async def _until_over(self, process: ContainerProcess) -> status.End:
        over = asyncio.ensure_future(process.wait())
        stopping = asyncio.ensure_future(self._stopping.wait())
        limit = self._pod["spec"].get("activeDeadlineSeconds")
        try:
            await asyncio.wait({over, stopping}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if over.done():
                return status.ended(over.result())
            if self._stopping.is_set():
                return status.ended(await process.stop(self._grace))
            code = await process.stop(float(self._pod["spec"].get("terminationGracePeriodSeconds", _GRACE)))
            message = "Pod was active on the node longer than the specified deadline"
            return status.End(code, "Error" if code else "Completed", message, "DeadlineExceeded")
        finally:
            over.cancel()
            stopping.cancel()

    async def _order(self, container: Mapping[str, Any]) -> dict[str, Any] | None:
        """What starts a container, as soon as all of it is there; None when the pod was deleted before."""
        message = ""
        while not self._stopping.is_set():
            try:
                return await self._prepared(container)
            except NotYet as error:
                if str(error) != message:
                    message = str(error)
                    await self._say(self._waiting(container, error.reason, message))
            except Refused as error:
                if str(error) != message:
                    message = str(error)
                    await self._say(self._waiting(container, "CreateContainerConfigError", message))
            except Unreachable:
                pass
            await asyncio.sleep(_AGAIN)
        return None

    def _waiting(self, container: Mapping[str, Any], reason: str, message: str) -> dict[str, Any]:
        if container in self._pod["spec"]["containers"]:
            return status.waiting(self._pod, reason, message)
        state = {"waiting": {"reason": reason, "message": message}}
        return status.initializing(self._pod, container, state)

    async def _prepared(self, container: Mapping[str, Any]) -> dict[str, Any]:
        spec = self._pod["spec"]
        if not container.get("command"):
            raise NotYet("CreateContainerConfigError", "its image is this machine: give it a command")
        root = self._folder / "root"
        root.mkdir(parents=True, exist_ok=True)
        values = await environment(self._api, self._pod, container, self.address, self._path)
        argv = [*container["command"], *(container.get("args") or ())]
        rights = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
        return {
            "hostname": hostname(self._pod),
            "root": str(root),
            "mounts": await mounts(self._api, self._pod, container, self._folder / "volumes"),
            "directory": container.get("workingDir", ""),
            "argv": [expand(text, values) for text in argv],
            "environment": values,
            "mayChoose": os.geteuid() == 0,
            "user": rights.get("runAsUser"),
            "group": rights.get("runAsGroup"),
            "fsGroup": rights.get("fsGroup"),
            "mayGain": rights.get("allowPrivilegeEscalation", True),
        }

    async def _say(self, body: dict[str, Any]) -> None:
        try:
            await self._api.insist("PATCH", f"{self._place}/status", body, STRATEGIC)
        except Refused as error:
            if error.status not in _ABSENT:
                raise

    async def _release(self) -> None:
        """The API server forgets it only when its node says that nothing of it runs."""
        uid = {"uid": self._pod["metadata"]["uid"]}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": uid}
        try:
            await self._api.insist("DELETE", self._place, body)
        except Refused as error:
            if error.status not in _ABSENT:
                raise

    @property
    def _place(self) -> str:
        meta = self._pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


def _report(task: asyncio.Task[None]) -> None:
    """Report an unexpected error: the pod is not changed, and the node's log has the reason."""
    if not task.cancelled() and (error := task.exception()) is not None:
        sys.stderr.write(f"{task.get_name()}: {error!r}\n")


def _last_lines(log: Path) -> str:
    return log.read_bytes()[-2048:].decode("utf-8", "replace")
