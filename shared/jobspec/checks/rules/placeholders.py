"""Placeholders that completion could not fill in, or that a person was meant to replace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import quote, walk

_OURS = re.compile(r"<(AZURE_BATCHAI_STORAGE_(?:ACCOUNT|KEY)|SLIPWAY_(?:SCRIPT|FOLDER))[:>]")
_BRACKETED = r"\[{1,2}(?:[Yy]our|YOUR)[ _-][^\[\]]{1,64}\]{1,2}"
_ANY = re.compile(rf"<[A-Za-z][A-Za-z0-9_ .-]{{0,63}}>|{_BRACKETED}")
#: Placeholders that a program has not filled in. They have another meaning to shells, and to programs that
#: read variables.
_TEMPLATE = re.compile(
    r"\{\{ ?[A-Za-z_][A-Za-z0-9_. -]{0,63}\}\}|%(?:\([A-Za-z_][A-Za-z0-9_]{0,63}\))?[sd](?![A-Za-z0-9])"
)
#: Alone they have no meaning in a shell.
_WHOLE = re.compile(rf"{_BRACKETED}|%s|\{{\{{ ?[A-Za-z_][A-Za-z0-9_. -]{{0,63}}\}}\}}")
#: An expression of an ARM template, which only Azure Resource Manager fills in.
_EXPRESSION = re.compile(
    r"\[(?:parameters|variables|concat|format|reference|resourceId|resourceGroup|subscription|listKeys|copyIndex"
    r"|uniqueString|toLower|string|int|if)\([^\r\n]{0,1000}\)\]"
)
#: How each of these begins.
_MARKS = ("<", "[", "{{", "%")
_REMEDIES = {
    "AZURE_BATCHAI_STORAGE_ACCOUNT": "write the account's name, or ask the operator to configure a default",
    "AZURE_BATCHAI_STORAGE_KEY": "leave accountKey out; it is filled in when the job is submitted",
    "SLIPWAY_SCRIPT": (
        "drop a script beside or below this template; a command line takes names of letters, digits, dot, "
        "dash and underscore, and the job must not mount something else at scripts"
    ),
    "SLIPWAY_FOLDER": (
        "drop the job as a folder; a command line takes names of letters, digits, dot, dash and underscore, "
        "and the job must not mount something else at scripts"
    ),
}


def _any_left(context: Context) -> bool:
    text = context.text
    if not any(mark in text for mark in _MARKS):
        return False
    return any(form.search(text) for form in (_OURS, _ANY, _TEMPLATE, _EXPRESSION))


@only_if(_any_left)
def placeholders(context: Context) -> Iterator[Problem]:
    """Known placeholders anywhere, and others that have no meaning in a shell.

    Quoted are ours, and those in the path of a file, which may be a part of its name.
    """
    shell = {node.pointer for node in context.commands}
    values = {node.pointer for node in context.environment_values}
    paths = {node.pointer for node in context.files}
    for node in walk(context.properties.value):
        if not isinstance(node.value, str):
            continue
        pointer = context.properties.pointer + node.pointer
        match = _OURS.search(node.value)
        if match:
            message = f"the placeholder <{match[1]}> is left"
            yield problem("SW046", pointer, message, _REMEDIES[match[1]], piece=match[0])
            continue
        if _EXPRESSION.fullmatch(node.value):
            yield problem("SW046", pointer, "an ARM template expression was not replaced")
            continue
        match = _WHOLE.fullmatch(node.value)
        if match is None and pointer not in shell:
            match = _ANY.search(node.value)
            if match is None and pointer not in values and "/secrets/" not in pointer:
                match = _TEMPLATE.search(node.value)
        if match:
            what = "a placeholder was not replaced"
            if pointer in paths:
                what = f"{quote(match[0])} looks like a placeholder that was not replaced"
            yield problem("SW046", pointer, what, piece=match[0])
