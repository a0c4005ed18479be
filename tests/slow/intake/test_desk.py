"""Every door goes through the desk: who makes a candidate, who takes a step, and who records."""

from __future__ import annotations

import ast
from pathlib import Path

from shared.intake.desk.draft import STEPS
from tests.unit.intake.desk.doors import READING, RECORDING

ROOT = Path(__file__).resolve().parents[3]
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for top in ("shared", "functions", "slipway")
    for path in (ROOT / top).rglob("*.py")
}
DESK, OFFLINE = "shared/intake/desk/draft.py", "slipway/commands/explain/explain.py: _offline"


def calls_of(text: str) -> set[str]:
    """The functions that call something written like this."""
    return {
        f"{path}: {function.name}"
        for path, source in SOURCES.items()
        if f"{text}(" in source
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == text
    }


def importers_of(name: str) -> set[str]:
    """The files that import something by this name from the room."""
    return {
        path
        for path, source in SOURCES.items()
        if name in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shared.intake.")
        if name in [one.name for one in node.names]
    }


def test_every_maker_of_a_candidate_is_a_door_that_the_tests_go_through() -> None:
    makers = {door.partition(",")[0] for door in (*RECORDING, *READING) if ": " in door}

    assert calls_of("Candidate") == makers | {OFFLINE}


def test_no_one_but_the_desk_looks_up_and_checks() -> None:
    importers = {step.__name__: importers_of(step.__name__) - {DESK} for step in STEPS}

    # Without a deployment only the document can be looked up, in the files of the folder.
    assert importers.pop("with_document") == {"shared/intake/drops/explained.py"}
    assert set().union(*importers.values()) == set()
    assert importers_of("prepare") == {DESK}
    assert calls_of("Draft") == {f"{DESK}: draft_again"}


def test_no_one_but_record_makes_a_record() -> None:
    assert calls_of("ports.ledger.create") == {"shared/intake/accept.py: record"}
    assert calls_of("first_record") == {
        "shared/intake/accept.py: record",
        "shared/intake/explanation/explain.py: _foreseen",  # which records nothing
    }
