"""`--fix`: certain changes to the text that a person wrote; the rest stays as it is."""

from __future__ import annotations

from collections.abc import Callable

from shared.jobspec.problems.fix import Edit, applied
from shared.jobspec.problems.problem import Problem
from shared.jobspec.reader.source import Source

#: A change may uncover the next mistake; no text needs more rounds than this.
_MOST_ROUNDS = 200


def mended(source: Source, diagnose: Callable[[Source], tuple[Problem, ...]]) -> Source:
    """The source after every certain fix, until none is left; a round that changes nothing is the last."""
    versions = {source.data}
    for _ in range(_MOST_ROUNDS):
        problems = diagnose(source)
        if any(one.code == "SW002" for one in problems) and source.recoded is not None:
            changed = source.recoded
        else:
            changed = source.with_text(applied(source.text, _fixes(source, problems)))
        if changed.data in versions:
            break
        versions.add(changed.data)
        source = changed
    return source


def _fixes(source: Source, problems: tuple[Problem, ...]) -> list[tuple[Edit, ...]]:
    syntax = [one for one in problems if one.code == "SW003"]
    return [edits for one in syntax or problems if (edits := source.edits(one))]
