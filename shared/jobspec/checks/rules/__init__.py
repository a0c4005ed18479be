"""The rules that a schema cannot express. Each reads the raw document and must accept any value in it.

In: the document as a tree, and the known facts about its cluster. Out: problems.
"""

from __future__ import annotations

from shared.jobspec.checks.rules import (
    container,
    counts,
    lookalikes,
    mounts,
    names,
    paths,
    placeholders,
    runnable,
    secrets,
    text,
    toolkits,
    variables,
)
from shared.jobspec.checks.rules.context import Context, Rule

RULES: tuple[Rule, ...] = (
    toolkits.one_toolkit,
    toolkits.tool_type,
    toolkits.languages,
    toolkits.backend,
    counts.nodes,
    counts.processes,
    counts.wall_clock,
    mounts.mount_paths,
    mounts.file_shares,
    mounts.storage_names,
    mounts.modes_and_options,
    mounts.mount_addresses,
    mounts.mount_commands,
    mounts.credentials,
    container.container,
    container.key_vault_references,
    names.cluster,
    names.directories,
    names.environment,
    paths.plain_paths,
    paths.on_a_mount,
    runnable.scripts,
    runnable.commands,
    variables.variables,
    variables.prefixes,
    placeholders.placeholders,
    secrets.in_plain_sight,
    lookalikes.lookalikes,
)

__all__ = ["RULES", "Context", "Rule", "text"]
