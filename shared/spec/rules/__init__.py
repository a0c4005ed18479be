"""The rules that a schema cannot express. Each reads the raw document and takes whatever it finds there."""

from __future__ import annotations

from shared.spec.rules import container, counts, mounts, names, paths, placeholders, text, toolkits, variables
from shared.spec.rules.context import Context, Rule

RULES: tuple[Rule, ...] = (
    toolkits.one_toolkit,
    toolkits.languages,
    toolkits.backend,
    counts.nodes,
    counts.processes,
    counts.wall_clock,
    mounts.mount_paths,
    mounts.file_shares,
    mounts.storage_names,
    mounts.modes_and_options,
    mounts.mount_commands,
    mounts.credentials,
    container.container,
    container.key_vault_references,
    names.cluster,
    names.directories,
    names.environment,
    paths.plain_paths,
    paths.on_a_mount,
    variables.variables,
    placeholders.placeholders,
)

__all__ = ["RULES", "Context", "Rule", "text"]
