"""A mount of each kind at one place of a job."""

from __future__ import annotations

from typing import Any

_SERVER = "/subscriptions/0/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/fileServers/nfs"
_MOUNTS: dict[str, dict[str, Any]] = {
    "azureBlobFileSystems": {"accountName": "acct", "containerName": "scripts"},
    "azureFileShares": {"accountName": "acct", "azureFileUrl": "https://acct.file.core.windows.net/code"},
    "fileServers": {"fileServer": {"id": _SERVER}},
    "unmanagedFileSystems": {"mountCommand": "mount -t nfs server:/export"},
}


def mounted_at(place: str, kind: str) -> dict[str, Any]:
    """The volumes of a job with one mount of this kind there; a container is that of drops."""
    return {kind: [{**_MOUNTS[kind], "relativeMountPath": place}]}
