"""All mistakes in a text that is not JSON: each certain fix is applied, to find the mistakes after it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from shared.jobspec.problems.fix import Edit, Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.reader.quotes import line_and_column
from shared.jobspec.reader.syntax import syntax_problem

#: How many mistakes are reported at once, and in texts of which length: each costs a pass.
_MOST = 20
_LONGEST_MENDED = 200_000


@dataclass(frozen=True)
class Mending:
    """A text with its certain syntax mistakes mended, and how."""

    problems: tuple[Problem, ...]
    text: str
    #: In the order of application, each by positions in the text as it was then.
    edits: tuple[Edit, ...]
    #: Whether nothing is left to mend: `text` is a document in JSON.
    complete: bool

    def original_span(self, span: tuple[int, int]) -> tuple[int, int]:
        """A range of the mended text, in the text that a person wrote."""
        start, end = span
        first = _before_mending(start, self.edits)
        return first, first if start == end else max(first, _end_before_mending(end, self.edits))


def mending(text: str, error: json.JSONDecodeError) -> Mending:
    """The mistake that stopped the parser, and those that stop it after each certain fix."""
    problems: list[Problem] = []
    edits: list[Edit] = []
    mended = text
    stopped: json.JSONDecodeError | None = error
    while stopped is not None:
        one = syntax_problem(mended, stopped.pos, wants_colon="':'" in stopped.msg)
        problems.append(_moved_back(text, one, Mending((), mended, tuple(edits), complete=False)))
        if one.fix is None or len(problems) >= _MOST or len(text) > _LONGEST_MENDED:
            break
        for edit in sorted(one.fix.edits, reverse=True):
            mended = mended[: edit.start] + edit.text + mended[edit.end :]
            edits.append(edit)
        stopped = stopped_at(mended)
    complete = stopped is None and _may_be_job(mended)
    if not complete:
        # A text that is not a document even then is not mended, so none of its problems has a fix.
        problems = [replace(one, fix=None) for one in problems]
    return Mending(tuple(problems), mended, tuple(edits), complete=complete)


def _may_be_job(text: str) -> bool:
    """Whether the text is an object, or a list with one object, which stands for it."""
    value = json.loads(text, parse_int=str, parse_float=str)
    items = value if isinstance(value, list) else [value]
    return len(items) == 1 and isinstance(items[0], dict)


def stopped_at(text: str) -> json.JSONDecodeError | None:
    """Why the text is not JSON; None if it is."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return error
    return None


def _moved_back(text: str, original: Problem, so_far: Mending) -> Problem:
    """A problem of the mended text, with positions in the text that a person wrote."""
    if not so_far.edits or original.span is None:
        return original
    span = so_far.original_span(original.span)
    edits = tuple(
        Edit(*so_far.original_span((edit.start, edit.end)), edit.text)
        for edit in (original.fix.edits if original.fix else ())
    )
    _, _, message = original.message.partition(": ")
    line, column = line_and_column(text, span[0])
    return replace(
        original,
        message=f"line {line}, column {column}: {message}",
        span=span,
        fix=Fix("text", edits=edits) if edits else None,
    )


def _before_mending(offset: int, edits: tuple[Edit, ...]) -> int:
    for edit in reversed(edits):
        if offset >= edit.start + len(edit.text):
            offset += edit.end - edit.start - len(edit.text)
        elif offset > edit.start:
            offset = edit.start
    return offset


def _end_before_mending(end: int, edits: tuple[Edit, ...]) -> int:
    for edit in reversed(edits):
        if end >= edit.start + len(edit.text) and end > edit.start:
            end += edit.end - edit.start - len(edit.text)
        elif end > edit.start:
            end = edit.end
    return end
