"""The engine on an API server of the tests, whose pods are processes and share a directory."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.proofs import Proofs
from tests.doubles.kubernetes.server import TOKEN, Kubernetes, kubernetes

NAME = "dev-cluster-00"
_PROOFS = Proofs(("the deployment's",))


@dataclass(frozen=True)
class Running:
    """The server, and the directory that its pods share."""

    server: Kubernetes
    shared: Path
    #: the most nodes of a job: a server without success policies has one
    most: int = 2


@asynccontextmanager
async def running(data: Path, *, version: str = "v1.36.2", nodes: int = 4) -> AsyncIterator[Running]:
    """A cluster with nodes of one GPU each."""
    shared = data / "volume"
    (shared / "mounts" / "logs").mkdir(parents=True)
    async with kubernetes(data / "pods", version=version, namespaces=("slipway",)) as server:
        for number in range(nodes):
            server.nodes.add(f"gpu-{number}")
        yield Running(server, shared, most=1 if version.startswith("v1.20") else 2)


def engine_on(where: Running, *, clock: Callable[[], float] = time.time, **options: Any) -> KubernetesEngine:
    """An engine whose one cluster is a namespace there; it sees the volume."""
    shared = str(where.shared)
    values: dict[str, Any] = {
        "shared": shared,
        "volumes": {shared: "pvc:data"},
        "image": "python:3.13",
        "mount_root": f"{shared}/mounts",
        "path": os.environ["PATH"],
        "max_nodes": 4,
        "gpus": 1,
        "reads": {shared: shared},
        **options,
    }
    cluster = KubernetesCluster(NAME, **values)
    client = KubernetesClient(Access(where.server.url), FixedToken(TOKEN))
    return KubernetesEngine(
        {NAME: cluster}, {NAME: client}, clock=clock, proofs=Proofs(("the deployment's",))
    )
