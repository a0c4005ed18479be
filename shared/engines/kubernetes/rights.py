"""What Slipway's account has to be allowed in the namespace of a cluster: every call of the engine. Pure.

Beyond it, /version and the groups of the API, which every account may read; and the list of nodes, which is
left out where the account has no right to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.engines.kubernetes.cluster import KubernetesCluster

#: RESOURCE.GROUP → verbs.
RIGHTS: Mapping[str, tuple[str, ...]] = {
    "jobs.batch": ("create", "delete", "get", "list", "patch"),
    "pods": ("list",),
    "events": ("list",),
    "secrets": ("create", "delete", "get"),
    "configmaps": ("create", "get"),
    "services": ("create", "get"),
}
#: With Kueue, besides.
QUEUED: Mapping[str, tuple[str, ...]] = {"workloads.kueue.x-k8s.io": ("list", "patch")}


def rules(cluster: KubernetesCluster) -> list[dict[str, Any]]:
    """The rules of its Role."""
    rights = {**RIGHTS, **(QUEUED if cluster.queue else {})}
    parts = [(resource.partition("."), verbs) for resource, verbs in rights.items()]
    return [
        {"apiGroups": [group], "resources": [kind], "verbs": list(verbs)} for (kind, _, group), verbs in parts
    ]
