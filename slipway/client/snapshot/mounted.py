"""Refuses code for a document that mounts something in the place of scripts, and runs the same ones there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.visible import escaped
from shared.jobspec import scripts_mounted
from slipway.client.snapshot.walk import Tree
from slipway.failure import Failure


def refuse_other_code(message: Mapping[str, Any], tree: Tree) -> None:
    """Raise Failure if what runs is not the folder that is sent, but what a mount of the document has."""
    spec = message.get("spec")
    names = {file.name for file in tree.files}
    for script in scripts_mounted(spec) if isinstance(spec, dict) else ():
        levels = script.split("/")
        if not names.isdisjoint("/".join(levels[count:]) for count in range(len(levels))):
            raise Failure(
                f"this document mounts something at scripts and runs {escaped(script)} from there, so "
                f"{tree.folder} would be sent but would not run; take the mount out of mountVolumes, or, if "
                "it is the container of drops, upload it with slipway drop"
            )
