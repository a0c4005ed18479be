"""Finds a job's volumes and its image on a cluster whose operator has mounted and fetched them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from shared.core.code.record import CodeSource
from shared.jobspec import directory_key

#: The prefix of a file server's entry in the table if the nodes mount it for each job.
NFS = "nfs://"


def mounted(table: Mapping[str, str], properties: Mapping[str, Any]) -> Iterator[tuple[str, str, str | None]]:
    """Each volume of a job: pointer below `properties`, mount path, its directory on the nodes if known.

    `table`: address of a share, ACCOUNT/CONTAINER, or id of a file server → its directory on the nodes.
    """
    volumes = properties.get("mountVolumes") or {}
    mounts = {directory_key(key): path for key, path in table.items()}
    for index, share in enumerate(volumes.get("azureFileShares") or ()):
        at = f"/mountVolumes/azureFileShares/{index}"
        yield at, share["relativeMountPath"], mounts.get(directory_key(share["azureFileUrl"]))
    for index, blobs in enumerate(volumes.get("azureBlobFileSystems") or ()):
        at = f"/mountVolumes/azureBlobFileSystems/{index}"
        key = f"{blobs['accountName']}/{blobs['containerName']}"
        yield at, blobs["relativeMountPath"], mounts.get(directory_key(key))
    for index, server in enumerate(volumes.get("fileServers") or ()):
        at = f"/mountVolumes/fileServers/{index}"
        path = mounts.get(directory_key(server["fileServer"]["id"]))
        inside = str(server.get("sourceDirectory") or "").strip("/")
        yield at, server["relativeMountPath"], f"{path}/{inside}".rstrip("/") if path else None


def linked(table: Mapping[str, str], properties: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Mount path and directory of each volume that the nodes have."""
    volumes = mounted(table, properties)
    return tuple((at, path) for _, at, path in volumes if path is not None and not path.startswith(NFS))


def code_file(table: Mapping[str, str], code: CodeSource | None) -> str:
    """The file with a job's code on the nodes; "" where they do not mount the container of snapshots."""
    parts = urlsplit(code.address if code else "")
    account, _, domain = (parts.hostname or "").partition(".")
    path = unquote(parts.path).lstrip("/")
    if not domain.startswith("blob."):  # an emulator names the account in the path
        account, _, path = path.partition("/")
    container, _, blob = path.partition("/")
    mounts = {directory_key(key): path for key, path in table.items()}
    directory = mounts.get(directory_key(f"{account}/{container}"), "")
    return f"{directory.rstrip('/')}/{blob}" if directory and not directory.startswith(NFS) else ""


def image_of(properties: Mapping[str, Any]) -> str:
    """The image of a job with its registry, `HOST/NAME:TAG`; `NAME:TAG` of the default one."""
    registry = properties["containerSettings"]["imageSourceRegistry"]
    host = str(registry.get("serverUrl") or "").partition("://")[2] or str(registry.get("serverUrl") or "")
    image = str(registry["image"])
    if host and not image.startswith(f"{host.rstrip('/')}/"):
        return f"{host.rstrip('/')}/{image}"
    return image
