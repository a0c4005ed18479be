"""Volumes of clusters and jobs: which there are. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, kw_only=True)
class Volume:
    """One volume: what and where it is, `inside` which of its directories, and `at` which mount path.

    `name` is that of a share or container, the id of a file server, the command of an unmanaged file system.
    """

    kind: Literal["share", "blob", "server", "unmanaged"]
    account: str
    name: str
    at: PurePosixPath
    inside: str = ""
    key: str = field(default="", repr=False)

    @property
    def label(self) -> str:
        """What people know it by. A mount command may hold a password."""
        if self.kind == "unmanaged":
            return str(self.at)
        return f"{self.account}/{self.name}" if self.account else self.name.rpartition("/")[2]


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


def spaced(command: str) -> str:
    """A mount command with single spaces, as it is compared."""
    return " ".join(command.split())
