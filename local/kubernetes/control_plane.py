"""The programs of a cluster: child processes that can be killed and started again at will."""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

from local.kubernetes import commands
from local.kubernetes.api import Api, Refused, Unreachable
from local.kubernetes.programs import ROOT, Programs
from local.kubernetes.site import Site
from local.patience import Patience
from local.process import Child, ProcessError, child

T = TypeVar("T")
#: Seconds without a new line in its log until a program that does not answer is given up.
_PATIENCE = 60.0
_GRACE = 5.0
#: Even if this process is killed, no process of the cluster remains.
_WITH_US = ("setpriv", "--pdeathsig", "KILL")


class ControlPlane:
    """etcd, API server, controllers, scheduler and nodes."""

    def __init__(
        self, site: Site, programs: Programs, keys: commands.Keys, admin: Api, running: AsyncExitStack
    ) -> None:
        self._site = site
        self._programs = programs
        self._keys = keys
        self._admin = admin
        self._running = running
        self._children: dict[str, Child] = {}
        #: programs that were killed on purpose
        self._down: set[str] = set()

    @property
    def children(self) -> tuple[Child, ...]:
        """Those that should run now."""
        return tuple(one for name, one in self._children.items() if name not in self._down)

    async def start_store(self) -> None:
        """Start etcd, on what it has kept."""
        await self._start("etcd", commands.etcd(self._site))

    async def start_api(self) -> None:
        """Start the API server, and wait until it is ready."""
        await self._start("kube-apiserver", commands.api_server(self._site, self._programs, self._keys))
        await self.until("kube-apiserver", self._is_ready)

    async def start_controllers(self, kubeconfigs: dict[str, Path]) -> None:
        """Start the controllers and the scheduler, each as a user of its own."""
        own = kubeconfigs["kube-controller-manager"]
        await self._start(
            "kube-controller-manager", commands.controllers(self._site, self._programs, self._keys, own)
        )
        own = kubeconfigs["kube-scheduler"]
        await self._start("kube-scheduler", commands.scheduler(self._site, self._programs, own))

    async def start_node(self, name: str, kubeconfig: Path) -> None:
        """Start a node, and wait until it serves."""
        site, keys = self._site, self._site.keys
        options = {
            "name": name,
            "kubeconfig": kubeconfig,
            "folder": site.node_folder(name),
            "port": site.nodes[name],
            "certificate": keys / "node.pem",
            "authority": self._keys.authority,
            "gpus": site.gpus,
            "pods": site.pods,
            "path": site.path,
            "lease-seconds": max(1, site.lost_seconds // 4),
        }
        flags = [f"--{option}={value}" for option, value in options.items()]
        await self._start(name, [sys.executable, "-m", "local.kubernetes.kubelet", *flags])
        await self._children[name].line("^ready", seconds=_PATIENCE)

    async def kill(self, name: str) -> None:
        """Kill a program with SIGKILL; a node's pods end with it, as those of a machine without power."""
        self._down.add(name)
        self._children[name].signal(signal.SIGKILL)
        await self._children[name].wait()

    async def until(self, name: str, is_so: Callable[[], Awaitable[bool]]) -> None:
        """Wait for a result of a program. Raises ProcessError when it ends, or makes no progress for long."""
        process, patience = self._children[name], Patience(_PATIENCE)
        while not await is_so():
            if process.returncode is not None:
                raise _failure(process, "ended")
            if patience.is_over(process.recent):
                raise _failure(process, f"did nothing for {_PATIENCE:g} s")
            await asyncio.sleep(0.1)

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work that needs the running programs. Raises ProcessError when one ends before."""
        task = asyncio.ensure_future(work)
        ends = {asyncio.ensure_future(one.wait()): one for one in self.children}
        try:
            done, _ = await asyncio.wait({task, *ends}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise _failure(next(one for end, one in ends.items() if end in done), "ended")
        finally:
            for one in (task, *ends):
                one.cancel()

    async def _is_ready(self) -> bool:
        try:
            return bool(await self._admin.call("GET", "/readyz") == "ok")
        except (Unreachable, Refused):
            return False

    async def _start(self, name: str, argv: Sequence[str]) -> None:
        log = self._running.enter_context((self._site.logs / f"{name}.log").open("a", encoding="utf-8"))

        def write(line: str) -> None:
            log.write(line + "\n")
            log.flush()

        program = shutil.which(argv[0]) or argv[0]
        started = child(
            [*_WITH_US, program, *argv[1:]],
            name=name,
            cwd=ROOT,
            on_line=write,
            grace=_GRACE,
        )
        self._children[name] = await self._running.enter_async_context(started)
        self._down.discard(name)


def _failure(process: Child, what: str) -> ProcessError:
    lines = "".join(f"\n  | {line}" for line in process.recent[-12:])
    return ProcessError(f"{process.name} {what}; its last lines:{lines}")
