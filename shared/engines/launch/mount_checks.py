"""What no cluster can honour whose operator mounts the volumes, and whose nodes have no identity. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shared.core.refusals import refused
from shared.engines.launch.mounts import mounted
from shared.jobspec import Problem

_MODES = ("fileMode", "directoryMode")


def mount_refusals(
    cluster: str, table: Mapping[str, str], properties: Mapping[str, Any]
) -> Iterator[Problem]:
    """Each volume that the nodes do not have, and each option of a mount; `table` as in `mounted`."""
    for pointer, _, path in mounted(table, properties):
        if path is None:
            text = f"the nodes of {cluster} have no directory for it; an operator adds it to `mounts`"
            yield _refused(pointer, text, f"use what is mounted there: {', '.join(table) or 'nothing'}")
    volumes = properties.get("mountVolumes") or {}
    for name, entries in volumes.items():
        for index, entry in enumerate(entries or ()):
            at = f"/mountVolumes/{name}/{index}"
            if name == "unmanagedFileSystems":
                yield _refused(at, "mount commands cannot run on the nodes", "use a mounted share")
            for option in _MODES:
                if entry.get(option) not in (None, "0777"):
                    text = "the cluster mounts it, with modes of its own"
                    yield _refused(f"{at}/{option}", text, "leave it out")
            if entry.get("mountOptions"):
                text = "the cluster mounts it, with options of its own"
                yield _refused(f"{at}/mountOptions", text, "leave it out")


def vault_refusals(properties: Mapping[str, Any]) -> Iterator[Problem]:
    """Each value that is to come from a Key Vault."""
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(properties.get(kind) or ()):
            if variable.get("valueSecretReference"):
                text = "the nodes have no identity that may read a Key Vault"
                at = f"/{kind}/{index}/valueSecretReference"
                yield _refused(at, text, "give the value, which is kept sealed")


def _refused(pointer: str, message: str, remedy: str) -> Problem:
    return refused("SW109", f"/properties{pointer}", message, remedy)
