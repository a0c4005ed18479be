"""No client discards an error that it did not expect: the reason stands where the code does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Errors that say that something could not be done, and not what.
_BROAD = {
    "Failure",
    "Unanswered",
    "AzureError",
    "HttpResponseError",
    "ClientError",
    "Exception",
    "BaseException",
}
#: Where one of them is discarded, and what makes up for it.
EXPECTED = {
    "client/files/direct.py find": "the file is read through the API instead",
    "client/files/save.py contains": "the file is written anew",
    "client/jobs/watch.py _read": "the next look asks again",
    "client/jobs/watch.py _read_one": "the next look asks again, unless the job wrote nothing",
    "client/calls/wire.py _is_up": "the answer that led to the question is raised",
    "commands/forward/forward.py _end": "the next look asks again",
    "commands/run/follow.py _left_by": "the command that lists the files is named without them",
    "commands/validate/validate.py known_facts": "documents are checked without clusters",
    "library/blocking.py _repr_pretty_": "the job is shown as it was when it was asked last",
    "library/metrics.py points": "a list of rows takes the place of a data frame",
    "stack/local_checks.py _answers": "that nothing answers is what was asked",
}


def test_every_discarded_error_is_listed_with_its_reason() -> None:
    discarded = {
        f"{file.relative_to(ROOT / 'slipway').as_posix()} {name}"
        for file in sorted((ROOT / "slipway").rglob("*.py"))
        for name in _discarding(ast.parse(file.read_text(encoding="utf-8")), "")
    }

    assert discarded == EXPECTED.keys()


def _discarding(node: ast.AST, function: str) -> Iterator[str]:
    """The functions with a handler of a broad error that neither raises nor uses it."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        if isinstance(child, ast.ExceptHandler) and _is_broad(child.type) and not _is_used(child):
            yield function
        if isinstance(child, ast.With | ast.AsyncWith) and any(map(_suppresses, child.items)):
            yield function
        yield from _discarding(child, inside)


def _is_broad(kind: ast.expr | None) -> bool:
    return kind is None or any(
        isinstance(one, ast.Name | ast.Attribute)
        and (one.id if isinstance(one, ast.Name) else one.attr) in _BROAD
        for one in ast.walk(kind)
    )


def _is_used(handler: ast.ExceptHandler) -> bool:
    inner = [one for part in handler.body for one in ast.walk(part)]
    return any(
        isinstance(one, ast.Raise) or (isinstance(one, ast.Name) and one.id == handler.name) for one in inner
    )


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    is_suppress = (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "suppress"
    )
    return is_suppress and isinstance(call, ast.Call) and any(map(_is_broad, call.args))
