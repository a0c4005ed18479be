"""Rights in the namespace of a cluster: those of Slipway's account, and those of people who enter jobs. Pure.

Slipway's own are for every call of the engine. In addition, every account may read /version and the API's
groups, and the list of nodes is optional.
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


#: Of people who enter running jobs with kubectl. Servers ask for `get` or `create`, by their version, and
#: kubectl finds the pod first. Slipway's own account never has them.
ENTERING: Mapping[str, tuple[str, ...]] = {
    "pods": ("get", "list"),
    "pods/exec": ("create", "get"),
    "pods/portforward": ("create", "get"),
}


def rules(cluster: KubernetesCluster) -> list[dict[str, Any]]:
    """The rules of the Role of Slipway's account."""
    return rules_of({**RIGHTS, **(QUEUED if cluster.queue else {})})


def rules_of(rights: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """Rights as the rules of a Role."""
    parts = [(resource.partition("."), verbs) for resource, verbs in rights.items()]
    return [
        {"apiGroups": [group], "resources": [kind], "verbs": list(verbs)} for (kind, _, group), verbs in parts
    ]
