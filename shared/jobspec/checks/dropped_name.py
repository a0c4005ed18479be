"""Problems of a template that come from the name of what was dropped: they name it, and the character."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from shared.jobspec.format.drop_paths import PATH_FIELDS
from shared.jobspec.format.placeholders import unfilled
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import JsonObject, quote, walk

_LONGEST = 80


def with_dropped_name(
    problems: Iterable[Problem], document: JsonObject, *, script: str | None, folder: str | None
) -> tuple[Problem, ...]:
    """The problems, with the dropped name where a placeholder of the document stands for it."""
    errors = {one.pointer for one in problems if one.severity == "error"}
    if not errors or (script is None and not folder):
        return tuple(problems)
    texts = {node.pointer: node.text or "" for node in walk(document) if node.pointer in errors}
    return tuple(_named(one, texts.get(one.pointer, ""), script, folder) for one in problems)


def _named(problem: Problem, text: str, script: str | None, folder: str | None) -> Problem:
    member = problem.pointer.rpartition("/")[2]
    dropped = unfilled(text, member, script=script, folder=folder)
    if dropped is None or problem.severity != "error":
        return problem
    name = quote(dropped.name, _LONGEST)
    if problem.code != "SW046":
        message = f"{problem.message} (in the name of the dropped {name})"
    elif dropped.flaw:
        message = f"{problem.message}, because {name} {dropped.flaw}"
    else:
        return problem
    others = "" if member in PATH_FIELDS else "; only pythonScriptFilePath and configFilePath take any name"
    return replace(problem, message=message, remedy=f"rename what was dropped{others}", fix=None)
