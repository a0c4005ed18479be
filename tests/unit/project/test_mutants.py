"""The wrong changes that `make mutants` makes, and the list of those that no test can notice."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest

from tests.mutants import operators
from tests.mutants.__main__ import EQUIVALENT, ROOT, equivalents, modules_of
from tests.mutants.code import functions_of
from tests.mutants.hand import Copies, is_there, noticed_by
from tests.mutants.operators import mutants_of
from tests.mutants.table import CHANGES


def _changes(body: str) -> list[str]:
    """How the mutants of a function with this body read."""
    source = f"def f(a, b):\n    {body}\n"
    return [mutant.name.removeprefix("f: ") for mutant in mutants_of(source)]


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        ("a < b", ["a < b => nothing", "a < b => a <= b"]),
        ("x = a is b", ["a is b => a is not b"]),
        ("x = a and b", ["a and b => a or b", "a and b => b", "a and b => a"]),
        ("x = not a", ["not a => a"]),
        ("x = a + 1", ["a + 1 => a - 1", "1 => 2"]),
        ("x = True", ["True => False"]),
        ("x = 'text'", []),
        ("x = f'{a + 1}'", []),
        ("x = [n for n in a if n]", ["for n in a if n => no condition"]),
        ("return a", ["return a => return None"]),
        ("return None", []),
        ("raise a", ["raise a => nothing"]),
        ("if a: b()", ["if a: => if True", "if a: => if False", "b() => nothing"]),
        ("x = g(a, b, c=1)", ["g(a, b, c=1) => without c=1", "g(a, b, c=1) => without b", "1 => 2"]),
        ("log.info(a < b)", []),
        ("assert a < b", []),
        ("x = zip(a, strict=True)", []),
    ],
)
def test_a_mutant_is_one_careless_edit(body: str, changes: list[str]) -> None:
    assert [change.strip() for change in _changes(body)] == changes


def test_a_mutant_changes_the_one_place_that_its_name_tells() -> None:
    source = "class C:\n    def f(self, a):\n        return a < 1 or a < 1\n"
    members = {mutant.name: ast.unparse(mutant.change()) for mutant in mutants_of(source)}

    assert members["C.f: a < 1 => a <= 1 (#2)"] == ast.unparse(ast.parse(source)).replace(
        "or a < 1", "or a <= 1", 1
    )


def test_rooms_within_a_room_are_mutated_too() -> None:
    folders = {module.parent.relative_to(ROOT).as_posix() for module in modules_of([])}

    assert {"shared/lifecycle/clusters", "shared/lifecycle/job_sweeps", "shared/intake/explanation"} < folders
    assert {"shared/intake", "shared/lifecycle", "shared/delivery"} < folders


def test_equivalent_mutants_are_of_modules_that_are_mutated() -> None:
    """The reason for one that is never tried would be read for nothing."""
    mutated = {module.relative_to(ROOT).as_posix() for module in modules_of([])}
    listed = equivalents(EQUIVALENT.read_text(encoding="utf-8"))

    assert {name.partition(": ")[0] for name in listed} - mutated == set()


def test_every_equivalent_mutant_exists_and_has_its_reason() -> None:
    listed = equivalents(EQUIVALENT.read_text(encoding="utf-8"))
    modules = {name.partition(": ")[0] for name in listed}
    remote = {
        f"{module}: {mutant.name}"
        for module in modules
        for mutant in mutants_of((ROOT / module).read_text(encoding="utf-8"))
    }

    assert [name for name in listed if name not in remote] == []
    assert all(listed.values())


def test_every_change_by_hand_stands_once_in_its_file_and_tests_notice_it() -> None:
    absent = [f"{change.file}: {change.old}" for change in CHANGES if not is_there(change)]

    assert absent == [], "say in tests/mutants/table.py what stands there now, or take another place"
    assert len(CHANGES) >= 60
    assert [path for change in CHANGES for path in noticed_by(change) if not (ROOT / path).exists()] == []


def test_other_users_can_run_what_is_in_the_copies_too(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir(mode=0o700)

    Copies(folder, 0)

    assert folder.stat().st_mode & 0o005 == 0o005


def test_a_mutant_without_a_reason_is_refused() -> None:
    assert equivalents("# why\nm: a => b\nm: c => d\n    as good\n") == {
        "m: a => b": "as good",
        "m: c => d": "as good",
    }
    with pytest.raises(ValueError, match="m: a => b"):
        equivalents("m: a => b\n")


def test_functions_are_found_also_after_the_collection_has_frozen_them() -> None:
    gc.freeze()

    functions = functions_of(Path(operators.__file__))

    assert mutants_of in functions.values()
