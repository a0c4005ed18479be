"""The programs for the nodes are whole: each is Python without the package."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from inspect import signature
from itertools import chain

import pytest

from shared.engines.launch import plan
from shared.engines.launch.programs import joined

#: Each that the plans of jobs have, by the function that makes it.
PROGRAMS: dict[str, Callable[[], str]] = {
    name: make
    for name, make in vars(plan).items()
    if callable(make) and make.__module__ == plan.__name__ and not signature(make).parameters
}


def test_the_programs_are_found() -> None:
    assert {"script", "spreading", "mounting", "bringing", "keeping", "forgetting"} <= PROGRAMS.keys()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_imports_nothing_of_ours(name: str) -> None:
    tree = ast.parse(PROGRAMS[name]())

    imports = [one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    assert not [one for one in imports if one and one.startswith("shared")]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_no_two_files_of_a_program_give_a_name_to_different_things(name: str) -> None:
    names = Counter(chain.from_iterable(map(_bound, ast.parse(PROGRAMS[name]()).body)))

    assert [one for one, count in names.items() if count > 1] == []


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def test_an_import_of_several_lines_is_left_out() -> None:
    assert "ending_of,\n" not in joined("spread")
