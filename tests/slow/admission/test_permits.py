"""Nothing is submitted but what the gates let pass: who makes a permit, takes one, and fixes an attempt."""

from __future__ import annotations

import ast
from pathlib import Path

from shared.admission.gates import GATES
from shared.lifecycle.grants import KEEPERS

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for top in ("shared", "functions")
    for path in (ROOT / top).rglob("*.py")
}


def trees_with(name: str) -> dict[str, ast.Module]:
    """The modules whose text has this name."""
    return {path: ast.parse(text) for path, text in TEXTS.items() if name in text}


def calls_of(name: str) -> set[str]:
    """The functions that call something by this name."""
    return {
        f"{path}: {function.name}"
        for path, tree in trees_with(name).items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name
    }


def takers_of(kind: str) -> set[str]:
    """The functions that have a parameter of this type."""
    return {
        f"{path}: {function.name}"
        for path, tree in trees_with(kind).items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for one in (*function.args.args, *function.args.kwonlyargs)
        if one.annotation is not None and ast.unparse(one.annotation) == kind
    }


def test_only_admission_makes_a_permit_and_only_dispatch_submits_with_one() -> None:
    assert calls_of("Permit") == {"shared/admission/permit.py: permitted"}
    assert takers_of("Permit") == {
        "shared/lifecycle/dispatch.py: dispatch",
        "shared/lifecycle/job_sweeps/refill.py: submit_next",  # and tells who had ended by that
    }


def test_an_attempt_is_fixed_with_a_permit_or_in_the_first_record_that_the_gates_let_pass() -> None:
    assert calls_of("intent") == {
        "shared/intake/first_record.py: begun",
        "shared/lifecycle/dispatch.py: _start_attempt",
    }
    assert calls_of("_start_attempt") == {"shared/lifecycle/dispatch.py: dispatch"}
    assert calls_of("begun") == {
        "shared/intake/accept.py: _judged",
        "shared/intake/explanation/explain.py: _foreseen",  # which records nothing
    }


def test_every_keeper_has_a_gate_in_the_order_of_the_table() -> None:
    with_keeper = [gate for gate, _ in KEEPERS]

    assert with_keeper == [gate for gate in GATES if gate in with_keeper]
