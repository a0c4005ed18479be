"""Slipway's objects on the cluster: a namespace, a service account with the smallest Role, and a volume."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

from local.kubernetes.api import Api

#: The namespace, the service account, its Role and its claim all have this name.
NAME = "slipway"
#: The user of the nodes.
NODES = "kubelets"
_RBAC = "rbac.authorization.k8s.io"
#: The rights that an engine needs in its namespace, and no others: RESOURCE.GROUP → verbs. They are those of
#: the Role that `slipway setup` makes, which this package does not know (a test compares them).
_RIGHTS = {
    "jobs.batch": ["create", "delete", "get", "list", "patch"],
    "pods": ["delete", "list"],
    "events": ["list"],
    "secrets": ["create", "delete", "get"],
    "configmaps": ["create", "get"],
    "services": ["create", "get"],
}


def rules() -> list[dict[str, Any]]:
    """The rules of the Role."""
    parts = [(resource.partition("."), verbs) for resource, verbs in _RIGHTS.items()]
    return [{"apiGroups": [group], "resources": [kind], "verbs": verbs} for (kind, _, group), verbs in parts]


async def admit_nodes(api: Api) -> None:
    """Give the nodes the rights of a node. Raises Refused."""
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "system:node"}
    body = _object("ClusterRoleBinding", NODES, _RBAC) | {
        "roleRef": role,
        "subjects": [{"kind": "User", "name": NODES, "apiGroup": _RBAC}],
    }
    await api.make(f"/apis/{_RBAC}/v1/clusterrolebindings", body)


async def move_in(api: Api, shared: Path) -> str:
    """Make the missing objects; returns the token of the service account. Raises Refused."""
    await api.make("/api/v1/namespaces", _object("Namespace", NAME))
    namespace = f"/api/v1/namespaces/{NAME}"
    await api.make(f"{namespace}/serviceaccounts", _object("ServiceAccount", NAME))
    roles = f"/apis/{_RBAC}/v1/namespaces/{NAME}"
    role = _object("Role", NAME, _RBAC) | {"rules": rules()}
    await api.make(f"{roles}/roles", role)
    await api.insist("PUT", f"{roles}/roles/{NAME}", role)  # an earlier version's may have other rules
    binding = {
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAME}],
    }
    await api.make(f"{roles}/rolebindings", _object("RoleBinding", NAME, _RBAC) | binding)
    await _share(api, namespace, shared)
    annotations = {"kubernetes.io/service-account.name": NAME}
    secret = _object("Secret", f"{NAME}-token") | {"type": "kubernetes.io/service-account-token"}
    secret["metadata"]["annotations"] = annotations
    await api.make(f"{namespace}/secrets", secret)
    return await _token(api, f"{namespace}/secrets/{NAME}-token")


async def _share(api: Api, namespace: str, shared: Path) -> None:
    """A volume that all pods see, and the claim by which they name it."""
    size = {"storage": "1Ti"}
    spec: dict[str, Any] = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {
        "capacity": size,
        "hostPath": {"path": str(shared)},
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"namespace": NAME, "name": NAME},
    }
    await api.make("/api/v1/persistentvolumes", _object("PersistentVolume", NAME) | {"spec": spec | volume})
    claim = {"volumeName": NAME, "resources": {"requests": size}}
    await api.make(
        f"{namespace}/persistentvolumeclaims", _object("PersistentVolumeClaim", NAME) | {"spec": spec | claim}
    )


async def _token(api: Api, path: str) -> str:
    """The token that the controllers put into the Secret soon after it is made."""
    while True:
        data = (await api.insist("GET", path)).get("data") or {}
        if "token" in data:
            return base64.b64decode(data["token"]).decode()
        await asyncio.sleep(0.1)


def _object(kind: str, name: str, group: str = "") -> dict[str, Any]:
    version = f"{group}/v1" if group else "v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
