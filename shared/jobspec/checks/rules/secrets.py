"""Secrets inside commands and variables: they are sealed, but belong in `secrets`."""

from __future__ import annotations

from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.format.secrets import looks_secret_variable
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.secrets.embedded import any_recognised, recognised
from shared.jobspec.text.tree import Node


@only_if(lambda context: any_recognised(context.text))
def in_plain_sight(context: Context) -> Iterator[Problem]:
    """Report secrets recognised by a name or by their shape.

    A variable named like a secret has a finding of its own.
    """
    for node in (*context.commands, *_values(context), *_mount_commands(context)):
        if any(recognised(node.text or "")):
            yield problem("SW080", node.pointer, "the text holds what looks like a secret")


def _values(context: Context) -> Iterator[Node]:
    for variable in context.properties.member("environmentVariables").each():
        if not looks_secret_variable(variable.member("name").text or ""):
            yield variable.member("value")


def _mount_commands(context: Context) -> Iterator[Node]:
    return (mount.member("mountCommand") for mount in context.mounts("unmanagedFileSystems"))
