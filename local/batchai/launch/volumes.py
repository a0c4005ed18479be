"""The volumes of a `mountVolumes`. Pure."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from local.nodes.volume import Volume, spaced

#: The options of blobfuse for a container that is only read, and what lies between options.
_READ_ONLY = frozenset({"ro", "--read-only", "--read-only=true"})
_WORDS = re.compile(r"[\s,]+")


def volumes(mounts: Mapping[str, Any]) -> tuple[Volume, ...]:
    """The volumes of a checked `mountVolumes`."""
    shares = [_share(mount) for mount in mounts.get("azureFileShares", ())]
    blobs = [
        Volume(
            kind="blob",
            account=mount["accountName"],
            name=mount["containerName"],
            at=PurePosixPath(mount["relativeMountPath"]),
            key=mount["credentials"].get("accountKey", ""),
            read_only=not _READ_ONLY.isdisjoint(_WORDS.split(mount.get("mountOptions") or "")),
        )
        for mount in mounts.get("azureBlobFileSystems", ())
    ]
    servers = [
        Volume(
            kind="server",
            account="",
            name=mount["fileServer"]["id"],
            at=PurePosixPath(mount["relativeMountPath"]),
            inside=mount.get("sourceDirectory", ""),
        )
        for mount in mounts.get("fileServers", ())
    ]
    unmanaged = [
        Volume(
            kind="unmanaged",
            account="",
            name=spaced(mount["mountCommand"]),
            at=PurePosixPath(mount["relativeMountPath"]),
        )
        for mount in mounts.get("unmanagedFileSystems", ())
    ]
    return (*shares, *blobs, *servers, *unmanaged)


def _share(mount: Mapping[str, Any]) -> Volume:
    """A share by its URL, whose account is in the host name, or first in the path as emulators have it."""
    url = urlsplit(mount["azureFileUrl"])
    folders = [unquote(part) for part in url.path.split("/") if part]
    if not (url.hostname or "").startswith(f"{mount['accountName']}.") and folders[:1] == [
        mount["accountName"]
    ]:
        folders = folders[1:]
    name, *inside = folders or [""]
    return Volume(
        kind="share",
        account=mount["accountName"],
        name=name,
        at=PurePosixPath(mount["relativeMountPath"]),
        inside="/".join(inside),
        key=mount["credentials"].get("accountKey", ""),
    )
