"""The volumes of a job that its nodes mount themselves, as input for `node/volumes.py`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shared.connections.signature import for_container
from shared.engines.launch.mounts import NFS, mounted

_MODE = "0777"
#: Options of blobfuse in Batch AI's job files → their places in the configuration of blobfuse2.
_SECONDS = {
    "--file-cache-timeout-in-seconds": ("file_cache", "timeout-sec"),
    "attr_timeout": ("libfuse", "attribute-expiration-sec"),
    "entry_timeout": ("libfuse", "entry-expiration-sec"),
    "negative_timeout": ("libfuse", "negative-entry-expiration-sec"),
}
_READ_ONLY = frozenset({"ro", "--read-only", "--read-only=true"})
#: Options that are in effect anyway.
_DEFAULTS = frozenset({"rw", "allow_other", "--allow-other", "--use-https=true", "--use-attr-cache=true"})
BLOB_OPTIONS = ("-o ro", "-o allow_other", *(f"{'' if o[0] == '-' else '-o '}{o}=SECONDS" for o in _SECONDS))
_WORD = re.compile(r"[^\s,]+")
#: Seconds that every system reads as a number.
_COUNT = re.compile(r"[0-9]{1,9}")

_REMEDY = {
    "share": "check its name, the key of its account, and that the nodes reach port 445",
    "container": "check its name, and the key of its account",
    "identity": "check its name, and the role Storage Blob Data Contributor of the pool's identity on it",
    "server": "check its address and export, and that the pool's network reaches it",
    "command": "check its mount command",
}


class Keys(NamedTuple):
    """How containers are opened: until when, None if that is chosen at submission; and how they are reached.

    `client`: the id of the nodes' identity, for containers without a key; `suffix`: of storage hosts in the
    cloud.
    """

    client: str = ""
    suffix: str = "core.windows.net"
    until: datetime | None = None
    https: bool = True


#: Stands for a signature that is made at each submission.
ANEW = "<chosen at submission>"


class Volume(NamedTuple):
    """A volume: its mount path, its name for people, and its description, which includes keys."""

    at: str
    label: str
    document: dict[str, Any]


def volumes(
    table: Mapping[str, str], properties: Mapping[str, Any], keys: Keys | None = None
) -> tuple[Volume, ...]:
    """The volumes that are not in the table, and file servers that are in it with their address (`nfs://`)."""
    return tuple(_volumes(table, properties, keys or Keys()))


def _volumes(table: Mapping[str, str], properties: Mapping[str, Any], keys: Keys) -> Iterator[Volume]:
    lists = properties.get("mountVolumes") or {}
    for pointer, _, path in mounted(table, properties):
        _, kind, index = pointer.rsplit("/", 2)
        entry = lists[kind][int(index)]
        if kind == "fileServers" and path is not None and path.startswith(NFS):
            yield _server(entry, path)
        elif kind == "azureFileShares" and path is None:
            yield _share(entry)
        elif kind == "azureBlobFileSystems" and path is None:
            yield _container(entry, keys)
    for entry in lists.get("unmanagedFileSystems") or ():
        at = entry["relativeMountPath"]
        yield _volume(at, "The unmanaged file system", "command", command=entry["mountCommand"])


def _share(entry: Mapping[str, Any]) -> Volume:
    address = urlsplit(entry["azureFileUrl"])
    file, folder = entry.get("fileMode") or _MODE, entry.get("directoryMode") or _MODE
    return _volume(
        entry["relativeMountPath"],
        f"The share {entry['azureFileUrl']}",
        "share",
        source=f"//{address.hostname}{address.path.rstrip('/')}",
        account=entry["accountName"],
        key=_key(entry),
        options=f"vers=3.1.1,file_mode={file},dir_mode={folder},serverino,mfsymlinks,nosharesock,actimeo=30",
    )


def _container(entry: Mapping[str, Any], keys: Keys) -> Volume:
    account, name = entry["accountName"], entry["containerName"]
    key = _key(entry)
    sections = blob_options(str(entry.get("mountOptions") or "")).sections
    authentication = _signature(entry, keys, read_only=sections["read-only"])
    config: dict[str, Any] = {
        "read-only": sections["read-only"],
        "allow-other": True,
        "logging": {"type": "syslog", "level": "log_warning"},
        "components": ["libfuse", "file_cache", "attr_cache", "azstorage"],
        "libfuse": sections["libfuse"],
        "file_cache": {"timeout-sec": 120, **sections["file_cache"]},
        "azstorage": {
            "type": "block",
            "account-name": account,
            "container": name,
            "endpoint": f"https://{account}.blob.{keys.suffix}",
            **authentication,
        },
    }
    remedy = _REMEDY["container" if key else "identity"]
    label = f"The container {account}/{name}"
    return _volume(entry["relativeMountPath"], label, "container", remedy=remedy, config=config)


def _signature(entry: Mapping[str, Any], keys: Keys, *, read_only: bool) -> dict[str, str]:
    """How a container is opened: by a signature for it alone, never by the key of its whole account."""
    key = _key(entry)
    if not key:
        return {"mode": "msi", "appid": keys.client}
    if keys.until is None:
        return {"mode": "sas", "sas": ANEW}
    with suppress(ValueError):
        account, name = entry["accountName"], entry["containerName"]
        sas = for_container(account, name, key, keys.until, https=keys.https, read_only=read_only)
        return {"mode": "sas", "sas": sas}
    return {"mode": "key", "account-key": key}  # it is not an account's key: storage says so on the node


def _server(entry: Mapping[str, Any], path: str) -> Volume:
    host, _, export = path[len(NFS) :].partition("/")
    options = str(entry.get("mountOptions") or "").strip()
    options = options[2:].strip() if options.startswith("-o") else options
    label = f"The file server {entry['fileServer']['id'].rpartition('/')[2]}"
    return _volume(entry["relativeMountPath"], label, "server", source=f"{host}:/{export}", options=options)


class BlobOptions(NamedTuple):
    """Options of blobfuse: the sections of a configuration of blobfuse2, and the options that are refused."""

    sections: dict[str, Any]
    unknown: list[str]


def blob_options(text: str) -> BlobOptions:
    """The mountOptions of a container."""
    sections: dict[str, Any] = {"read-only": False, "libfuse": {}, "file_cache": {}}
    unknown = []
    for word in _WORD.findall(text):
        name, _, value = word.partition("=")
        if name in _SECONDS and _COUNT.fullmatch(value):
            section, member = _SECONDS[name]
            sections[section][member] = int(value)
        elif word in _READ_ONLY:
            sections["read-only"] = True
        elif word not in _DEFAULTS and word != "-o":
            unknown.append(word)
    return BlobOptions(sections, unknown)


def _key(entry: Mapping[str, Any]) -> str:
    return str((entry.get("credentials") or {}).get("accountKey") or "")


def _volume(at: str, label: str, kind: str, *, remedy: str = "", **facts: Any) -> Volume:
    document = {"at": at, "label": label, "kind": kind, "remedy": remedy or _REMEDY[kind], **facts}
    return Volume(at, label, document)
