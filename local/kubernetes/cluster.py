"""A running cluster: its addresses and files, and the faults that a test can cause."""

from __future__ import annotations

from pathlib import Path

from local.kubernetes.api import Api
from local.kubernetes.control_plane import ControlPlane
from local.kubernetes.site import Site
from local.process import Child


class Kubernetes:
    """All of it ends with the block of `kubernetes`."""

    def __init__(self, site: Site, plane: ControlPlane, admin: Api, node_kubeconfig: Path) -> None:
        self._site = site
        self._plane = plane
        self._node_kubeconfig = node_kubeconfig
        #: as a user who may do everything
        self.api = admin

    @property
    def url(self) -> str:
        """The address of the API server."""
        return self._site.url

    @property
    def home(self) -> Path:
        """The directory of all its files."""
        return self._site.home

    @property
    def admin(self) -> Path:
        """The kubeconfig of that user."""
        return self._site.admin

    @property
    def slipway(self) -> Path:
        """The kubeconfig of the service account for Slipway, in its namespace."""
        return self._site.slipway

    @property
    def shared(self) -> Path:
        """The directory behind the claim `slipway`, which pods mount."""
        return self._site.shared

    @property
    def path(self) -> str:
        """PATH of pods."""
        return self._site.path

    @property
    def logs(self) -> Path:
        """The directory of the logs of its programs."""
        return self._site.logs

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes."""
        return tuple(self._site.nodes)

    @property
    def processes(self) -> tuple[Child, ...]:
        """Its programs, to be watched."""
        return self._plane.children

    async def kill_api(self) -> None:
        """Kill the API server with SIGKILL."""
        await self._plane.kill("kube-apiserver")

    async def start_api(self) -> None:
        """Start it again, and wait until it is ready."""
        await self._plane.start_api()

    async def kill_store(self) -> None:
        """Kill etcd with SIGKILL."""
        await self._plane.kill("etcd")

    async def start_store(self) -> None:
        """Start it on what it has kept; the API server finds it by itself."""
        await self._plane.start_store()

    async def kill_node(self, name: str) -> None:
        """Kill a node and all that runs there."""
        await self._plane.kill(name)

    async def start_node(self, name: str) -> None:
        """Start it again, as after a loss of power."""
        await self._plane.start_node(name, self._node_kubeconfig)
