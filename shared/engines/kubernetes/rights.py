"""The rights that Slipway's account needs in the namespace of a cluster, for every call of the engine. Pure.

In addition, every account may read /version and the API's groups, and the list of nodes is optional.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.engines.kubernetes.cluster import KubernetesCluster

#: RESOURCE.GROUP → verbs.
RIGHTS: Mapping[str, tuple[str, ...]] = {
    "jobs.batch": ("create", "delete", "get", "list", "patch"),
    "pods": ("delete", "list"),
    "events": ("list",),
    "secrets": ("create", "delete", "get"),
    "configmaps": ("create", "get"),
    "services": ("create", "get"),
}
#: Additional rights with Kueue.
QUEUED: Mapping[str, tuple[str, ...]] = {"workloads.kueue.x-k8s.io": ("list", "patch")}


def rules(cluster: KubernetesCluster) -> list[dict[str, Any]]:
    """The rules of the Role."""
    rights = {**RIGHTS, **(QUEUED if cluster.queue else {})}
    parts = [(resource.partition("."), verbs) for resource, verbs in rights.items()]
    return [
        {"apiGroups": [group], "resources": [kind], "verbs": list(verbs)} for (kind, _, group), verbs in parts
    ]
