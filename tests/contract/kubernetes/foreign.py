"""The engine on a cluster of yours, by environment variables.

SLIPWAY_TEST_KUBECONFIG: a file as `kubectl config view --raw --flatten --minify -o json` prints it.
SLIPWAY_TEST_OPTIONS: options of the cluster as SLIPWAY_CLUSTERS has them, in JSON, beyond `_options`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.core.facts import ClusterFacts
from shared.core.job import Target
from shared.engines.kubernetes.cluster import KubernetesCluster, clusters_from
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access, from_kubeconfig
from shared.engines.kubernetes.wire.bearer import bearer_of
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.version import Version, version_of
from shared.engines.proofs import Proofs
from tests.contract.kubernetes.on_kubernetes import NAME

KUBECONFIG = os.environ.get("SLIPWAY_TEST_KUBECONFIG", "")
#: Why a test that reads what a job wrote cannot run.
UNSEEN = "this machine does not see the volume of that cluster: set `reads` in SLIPWAY_TEST_OPTIONS"


@dataclass(frozen=True)
class Foreign:
    """A cluster that was there before the tests."""

    cluster: KubernetesCluster
    access: Access

    @property
    def has_reads(self) -> bool:
        """Whether this machine sees what jobs write."""
        return bool(self.cluster.reads)

    @property
    def facts(self) -> ClusterFacts:
        """What it is configured to have."""
        return self.cluster.facts

    def engine(self, **options: Any) -> KubernetesEngine:
        """An engine of its own; `options`: other ones of the cluster."""
        proofs = Proofs(("the deployment's",))
        return KubernetesEngine({NAME: self._other(options)}, {NAME: self.client()}, proofs=proofs)

    def client(self) -> KubernetesClient:
        """Calls to its API server."""
        return KubernetesClient(self.access, bearer_of(self.access))

    async def version(self) -> Version:
        """The version of its server."""
        client = self.client()
        answer = await client.call("GET", "/version")
        await client.close()
        return version_of(answer.body)

    async def clear(self, targets: Iterable[Target]) -> None:
        """Delete the Jobs of tests that are over, with all that they own. Slipway itself keeps them."""
        client, jobs = self.client(), f"/apis/batch/v1/namespaces/{self.cluster.namespace}/jobs"
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        for target in targets:
            await client.call("DELETE", f"{jobs}/{target.name}", body, accept=("NotFound",))
        await client.close()

    def _other(self, options: dict[str, Any]) -> KubernetesCluster:
        return KubernetesCluster(**{**vars(self.cluster), **options})


def foreign() -> Foreign:
    """The cluster of the environment. Raises Misconfigured, which says what is wrong."""
    document = json.loads(Path(KUBECONFIG).read_text(encoding="utf-8"))
    options = json.loads(os.environ.get("SLIPWAY_TEST_OPTIONS") or "{}")
    (cluster,) = clusters_from({NAME: {**_options(document), **options}}, "SLIPWAY_TEST_OPTIONS").values()
    return Foreign(cluster, from_kubeconfig(document, "SLIPWAY_TEST_KUBECONFIG"))


def _options(document: Any) -> dict[str, Any]:
    return {
        "namespace": document["contexts"][0]["context"].get("namespace", "default"),
        "image": os.environ.get("SLIPWAY_TEST_IMAGE", "python:3.13"),
        "shared": "/data",
        "volumes": {"/data": "pvc:slipway"},
        "mountRoot": "/data/mounts",
        "maxNodes": 2,
    }
