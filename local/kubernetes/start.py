"""Starts a cluster, and ends it even if this process is killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from local.folder_lock import folder_lock
from local.kubernetes import tenant
from local.kubernetes.api import Api, Unreachable, api
from local.kubernetes.certificates import Authority, signing_key
from local.kubernetes.cluster import Kubernetes
from local.kubernetes.commands import Keys
from local.kubernetes.control_plane import ControlPlane
from local.kubernetes.kubeconfig import connection, save, with_certificate, with_token
from local.kubernetes.programs import KubernetesError, Programs, find_programs
from local.kubernetes.site import Site
from local.node_python import node_python
from local.ports import free_ports
from local.process import ProcessError

_SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ADMINS = "system:masters"
_CONTROLLERS = ("kube-controller-manager", "kube-scheduler")


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to start the cluster. `data` keeps its keys, state and logs."""

    data: Path
    nodes: int = 2
    #: of each node, as far as Kubernetes knows
    gpus: int = 1
    #: that a node runs at a time
    pods: int = 16
    #: of the API server; 0 is any free one
    port: int = 0
    #: seconds without a sign of life after which a node is taken for lost
    lost_seconds: int = 40
    #: what pods find in PATH first; by default a Python of the cluster's own
    node_path: tuple[Path, ...] = ()
    programs: Programs = field(default_factory=find_programs)
    #: options of the programs beside our own, by their names
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@asynccontextmanager
async def kubernetes(options: Options) -> AsyncIterator[Kubernetes]:
    """Run the cluster for the length of the block. Raises KubernetesError, with the remedy, when it cannot.

    When the block ends, and when this process dies in any way, every process of the cluster is killed,
    pods included. What etcd has kept is there again at the next start.
    """
    options.programs.require()
    home = options.data.resolve()
    refusal = KubernetesError(
        f"a cluster runs in {home} already (KUBECONFIG={home / 'admin.kubeconfig'}): "
        "use it, stop it, or choose another directory with --data"
    )
    with folder_lock(home, refusal):
        path = options.node_path or (await node_python(home / "python"),)
        site = _site(options, home, ":".join([*map(str, path), _SYSTEM]))
        for folder in (site.logs, site.shared, *map(site.node_folder, site.nodes)):
            folder.mkdir(parents=True, exist_ok=True)
        authority = Authority(site.keys)
        keys = _keys(site, authority)
        pair = authority.client("admin", "admin", _ADMINS)
        admin = save(site.admin, with_certificate(site.url, authority.certificate, pair))
        async with AsyncExitStack() as running:
            reached = await running.enter_async_context(api(connection(admin, site.keys)))
            plane = ControlPlane(site, options.programs, keys, reached, running)
            try:
                yield await _started(site, plane, authority, reached)
            except ProcessError as error:
                raise KubernetesError(f"{error}\n(all logs: {site.logs})") from error


async def _started(site: Site, plane: ControlPlane, authority: Authority, admin: Api) -> Kubernetes:
    await plane.start_store()
    await plane.start_api()
    users = {name: f"system:{name}" for name in _CONTROLLERS} | {"node-client": tenant.NODES}
    files = {name: site.home / f"{name}.kubeconfig" for name in users}
    for name, user in users.items():
        pair = authority.client(name, user)
        save(files[name], with_certificate(site.url, authority.certificate, pair))
    await plane.start_controllers(files)
    own = files["node-client"]
    token = await plane.during(_furnish(site, plane, admin, own))
    save(site.slipway, with_token(site.url, authority.certificate, token, tenant.NAME))
    return Kubernetes(site, plane, admin, own)


async def _furnish(site: Site, plane: ControlPlane, admin: Api, own: Path) -> str:
    """Nodes that are ready, and Slipway's account; its token."""
    await tenant.admit_nodes(admin)
    nodes = asyncio.gather(*(plane.start_node(name, own) for name in site.nodes))
    token, _ = await asyncio.gather(tenant.move_in(admin, site.shared), nodes)
    for name in site.nodes:
        await plane.until(name, partial(_is_ready, admin, name))
    return token


async def _is_ready(admin: Api, name: str) -> bool:
    """Whether pods may be given to a node."""
    try:
        node = await admin.find(f"/api/v1/nodes/{name}")
    except Unreachable:
        return False
    conditions = {one["type"]: one["status"] for one in node["status"]["conditions"]} if node else {}
    return conditions.get("Ready") == "True" and not (node["spec"].get("taints"))


def _keys(site: Site, authority: Authority) -> Keys:
    authority.server("node")
    return Keys(
        authority=authority.certificate,
        server=authority.server("kube-apiserver"),
        to_nodes=authority.client("kube-apiserver-client", "kube-apiserver"),
        tokens=signing_key(site.keys / "tokens.key"),
    )


def _site(options: Options, home: Path, path: str) -> Site:
    names = [f"node-{number}" for number in range(options.nodes)]
    # In one draw: none has a listener yet, so a second draw might return one of them again.
    etcd, peers, server, controllers, scheduler, *ports = free_ports(5 + len(names))
    return Site(
        home=home,
        etcd=etcd,
        etcd_peers=peers,
        api=options.port or server,
        controllers=controllers,
        scheduler=scheduler,
        nodes=dict(zip(names, ports, strict=True)),
        gpus=options.gpus,
        pods=options.pods,
        path=path,
        lost_seconds=options.lost_seconds,
        has_plain_ports=options.programs.takes("kube-scheduler", "port"),
        extra=options.extra,
    )
