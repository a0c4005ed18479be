"""Problems of a job's volumes and Key Vault references that a cluster cannot honour. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.refusals import refused
from shared.engines.launch.mounts import NFS, mounted
from shared.engines.launch.volumes import BLOB_OPTIONS, blob_options
from shared.jobspec import Problem

_MODES = ("fileMode", "directoryMode")


def mount_refusals(
    cluster: str, table: Mapping[str, str], properties: Mapping[str, Any], *, itself: bool = False
) -> Iterator[Problem]:
    """A problem for each volume that the nodes do not have, and for each mount option.

    `table` is that of `mounted`. `itself`: whether the nodes mount missing volumes themselves, with the job's
    options.
    """
    lists = properties.get("mountVolumes") or {}
    for at, _, path in mounted(table, properties):
        _, kind, index = at.rsplit("/", 2)
        entry = lists[kind][int(index)]
        if path is None and (not itself or kind == "fileServers"):
            text = f"the nodes of {cluster} do not have a directory for it; an operator adds it to `mounts`"
            yield _refused(at, text, f"use what is mounted there: {', '.join(table) or 'nothing'}")
        if itself and (path is None or path.startswith(NFS)):
            yield from _own(at, kind, entry)
        else:
            yield from _fixed(at, entry)
    for number in range(0 if itself else len(lists.get("unmanagedFileSystems") or ())):
        text = "mount commands cannot run on the nodes"
        yield _refused(f"/mountVolumes/unmanagedFileSystems/{number}", text, "use a mounted share")


def _fixed(at: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Problems for options of volumes that are mounted before the job arrives."""
    for option in _MODES:
        if entry.get(option) not in (None, "0777"):
            yield _refused(f"{at}/{option}", "the cluster mounts it, with modes of its own", "leave it out")
    if entry.get("mountOptions"):
        text = "the cluster mounts it, with options of its own"
        yield _refused(f"{at}/mountOptions", text, "leave it out")


def _own(at: str, kind: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    """Problems of a volume that the nodes mount for the job."""
    if (entry.get("credentials") or {}).get("accountKeySecretReference"):
        text = "the nodes lack an identity that may read a Key Vault"
        remedy = "give accountKey, which is kept sealed, or none: the deployment's, or the pool's identity"
        yield _refused(f"{at}/credentials/accountKeySecretReference", text, remedy)
    unknown = blob_options(str(entry.get("mountOptions") or "")).unknown
    if kind == "azureBlobFileSystems" and unknown:
        text = f"these options are not passed to blobfuse2: {', '.join(unknown)}"
        yield _refused(f"{at}/mountOptions", text, f"use {', '.join(BLOB_OPTIONS)}")


def vault_refusals(properties: Mapping[str, Any]) -> Iterator[Problem]:
    """A problem for each value that refers to a Key Vault."""
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            if variable.get("valueSecretReference"):
                text = "the nodes lack an identity that may read a Key Vault"
                at = f"/{kind}/{index}/valueSecretReference"
                yield _refused(at, text, "give the value, which is kept sealed")


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
