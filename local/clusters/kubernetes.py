"""A real Kubernetes as the cluster of the stack: a namespace, whose pods share a directory."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from local.azurite import ACCOUNT
from local.clusters.kind import DATA, ENDS, LOGS, NAME, SCRIPTS, ClusterOptions, Installed, Running
from local.kubernetes import Kubernetes, Options, find_programs, kubernetes
from local.kubernetes.programs import VERSION
from local.mirrored import directory, make_container, mirrored


@asynccontextmanager
async def start(options: ClusterOptions) -> AsyncIterator[Running]:
    """Run it for the length of the block. Raises StartError."""
    own = Options(data=options.data / "kubernetes", nodes=options.nodes, port=options.port)
    string = options.storage.connection_string
    async with kubernetes(own) as cluster:
        await make_container(string, ENDS)

        def serving() -> AbstractAsyncContextManager[None]:
            return mirrored(cluster.shared, string, (DATA, ENDS), read=(SCRIPTS,))

        kubeconfig = json.loads(cluster.slipway.read_text())
        yield Running(
            url=cluster.url,
            settings={
                "SLIPWAY_CLUSTER": NAME,
                "SLIPWAY_CLUSTERS": json.dumps({NAME: _cluster(cluster)}),
                "SLIPWAY_KUBECONFIGS": json.dumps({NAME: kubeconfig}),
            },
            connection_string=string,
            processes=cluster.processes,
            hints=(f"export KUBECONFIG={cluster.admin}   (for kubectl)",),
            serving=serving,
        )


def installed() -> Installed:
    """Whether its programs are here, or how to build them."""
    programs, remedy = find_programs(), "`make install-kubernetes`"
    if not programs.missing_programs():
        return Installed(VERSION)
    return Installed(remedy=remedy)


def _cluster(cluster: Kubernetes) -> dict[str, object]:
    """The settings of a cluster whose pods mount a claim at the same path as this machine."""
    shared = cluster.shared
    mount_root = shared / "mounts"
    containers = {name: directory(shared, name) for name in (SCRIPTS, DATA)}
    for folder in (mount_root / LOGS, shared / "slipway"):
        folder.mkdir(parents=True, exist_ok=True)
    if not (mount_root / DATA).is_symlink():
        (mount_root / DATA).symlink_to(containers[DATA])
    return {
        "engine": "kubernetes",
        "image": "this-machine",
        "volumes": {str(shared): "pvc:slipway"},
        "shared": str(shared / "slipway"),
        "mountRoot": str(mount_root),
        "mounted": [LOGS, DATA],
        "path": cluster.path,
        "user": os.geteuid(),
        "group": os.getegid(),
        "enter": True,
        # Kubernetes 1.20 has no Indexed Jobs.
        "maxNodes": 1,
        "mounts": {
            f"https://{ACCOUNT}.file.core.windows.net/{LOGS}": str(mount_root / LOGS),
            **{f"{ACCOUNT}/{name}": str(path) for name, path in containers.items()},
        },
        "packages": {"keep": str(shared / "environments")},
        "reads": {str(shared): str(shared)},
        "ends": str(directory(shared, ENDS)),
    }
