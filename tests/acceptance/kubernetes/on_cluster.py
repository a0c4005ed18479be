"""The engine on the real Kubernetes of this machine, with the rights of Slipway's account alone."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from local.kubernetes import Kubernetes
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import from_kubeconfig
from shared.engines.kubernetes.wire.bearer import bearer_of
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.proofs import Proofs

NAME = "dev-cluster-00"


def engine_on(
    running: Kubernetes, *, clock: Callable[[], float] = time.time, **options: Any
) -> KubernetesEngine:
    """An engine whose one cluster is the namespace `slipway` there; it sees the volume of the claim."""
    shared = str(running.shared)
    (running.shared / "mounts" / "logs").mkdir(parents=True, exist_ok=True)
    values: dict[str, Any] = {
        "shared": shared,
        "volumes": {shared: "pvc:slipway"},
        "image": "this-machine",
        "mount_root": f"{shared}/mounts",
        "path": running.path,
        "max_nodes": 2,
        "gpus": 1,
        "reads": {shared: shared},
        "user": os.geteuid(),
        "group": os.getegid(),
        **options,
    }
    cluster = KubernetesCluster(NAME, **values)
    access = from_kubeconfig(json.loads(running.slipway.read_text()), "slipway.kubeconfig")
    client = KubernetesClient(access, bearer_of(access))
    return KubernetesEngine(
        {NAME: cluster}, {NAME: client}, clock=clock, proofs=Proofs(("the deployment's",))
    )
