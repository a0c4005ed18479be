"""Refuses code for a document that names the place of scripts, where it mounts something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.jobspec import names_mounted_scripts
from slipway.client.snapshot.walk import Tree
from slipway.failure import Failure


def refuse_other_code(message: Mapping[str, Any], tree: Tree) -> None:
    """Raise Failure if what runs may not be the folder that is sent, but what a mount of the document has."""
    spec = message.get("spec")
    if isinstance(spec, dict) and names_mounted_scripts(spec):
        raise Failure(
            f"this document mounts something at scripts and names it, so what lies there would run, and not "
            f"{tree.folder}; take the mount out of mountVolumes, or mount it at another place and name that, "
            "or, if it is the container of drops, upload the folder with slipway drop"
        )
