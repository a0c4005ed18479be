"""No coroutine of the app reads or checks a document on the loop by itself: a long one would hold it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
#: What costs half a second for the largest document.
LONG_WORK = {"read_request", "read_message", "read_through", "meaning", "prepare", "parse"}
#: Where documents come in.
ROOMS = ("functions", "shared/intake", "shared/operate", "shared/lifecycle")


def on_the_loop(source: str) -> Iterator[str]:
    """Calls of long work in coroutines; `off_loop` gets the function itself."""
    for outer in ast.walk(ast.parse(source)):
        if not isinstance(outer, ast.AsyncFunctionDef):
            continue
        for node in ast.walk(outer):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LONG_WORK:
                yield f"{outer.name}: {node.func.id}"


def test_no_coroutine_reads_or_checks_a_document_by_itself() -> None:
    files = [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]
    places = {file.relative_to(ROOT).as_posix(): [*on_the_loop(file.read_text("utf-8"))] for file in files}

    assert len(files) > 100
    assert {file: calls for file, calls in places.items() if calls} == {}


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("async def f():\n    return read_request(body, limits)", 1),
        ("async def f():\n    return await off_loop(len(body), read_request, body, limits)", 0),
        ("def f():\n    return read_request(body, limits)", 0),
    ],
)
def test_a_call_on_the_loop_is_seen(code: str, number: int) -> None:
    assert len([*on_the_loop(code)]) == number
