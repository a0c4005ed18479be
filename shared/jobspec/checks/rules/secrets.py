"""Secrets inside commands and variables: they are sealed, and belong into `secrets` all the same."""

from __future__ import annotations

from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.format.secrets import looks_secret_variable
from shared.jobspec.hidden.embedded import recognised
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node


def in_plain_sight(context: Context) -> Iterator[Problem]:
    """What a name or its shape gives away. A variable named like a secret has a finding of its own."""
    texts = {
        node.pointer: text
        for node in (*context.commands(), *_values(context), *_mount_commands(context))
        if (text := node.text)
    }
    # One look at all of them: most documents have no secret in sight.
    if any(recognised("\n".join(texts.values()))):
        for pointer, text in texts.items():
            if any(recognised(text)):
                yield problem("SW080", pointer, "the text holds what looks like a secret")


def _values(context: Context) -> Iterator[Node]:
    for variable in context.properties.member("environmentVariables").each():
        if not looks_secret_variable(variable.member("name").text or ""):
            yield variable.member("value")


def _mount_commands(context: Context) -> Iterator[Node]:
    return (mount.member("mountCommand") for mount in context.mounts("unmanagedFileSystems"))
