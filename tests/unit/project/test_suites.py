"""What `make test` runs, and what it leaves to `.ci/run`: every suite is in one of the two lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts import BY_MAKE_TEST, part_of
from tests.suites import FIRST, LEFT

ROOT = Path(__file__).resolve().parents[3]
#: All of them are run by `make test`.
WHOLE = ("tests/crash", "tests/fuzz", "tests/unit")
SUITES = [
    path
    for file in sorted((ROOT / "tests").rglob("test_*.py"))
    if not (path := file.relative_to(ROOT).as_posix()).startswith(WHOLE)
]
#: Run by commands of their own.
APART = ("tests/acceptance/kubernetes", "tests/acceptance/slurm", "tests/browser", "tests/contract/slurm")


def test_each_suite_is_in_one_of_the_lists_or_has_a_command_of_its_own() -> None:
    strange = [path for path in SUITES if not path.startswith(APART) and not _place(path, FIRST + LEFT)]

    assert strange == [], "name it in tests/suites.py, by its folder or by itself"
    assert set(FIRST).isdisjoint(LEFT)


@pytest.mark.parametrize("place", [*FIRST, *LEFT])
def test_each_place_of_the_lists_has_tests(place: str) -> None:
    assert [path for path in SUITES if _place(path, FIRST + LEFT) == place]


def test_no_folder_that_is_run_has_a_suite_that_is_left() -> None:
    """Pytest takes a folder as a whole."""
    assert [path for path in SUITES if _place(path, FIRST) and _place(path, FIRST + LEFT) in LEFT] == []


def test_what_is_left_is_run_by_a_part_of_ci() -> None:
    left = [path for path in SUITES if _place(path, FIRST + LEFT) in LEFT]

    assert len(left) > 100
    assert [path for path in left if part_of(path) not in BY_MAKE_TEST] == []


def _place(path: str, places: tuple[str, ...]) -> str:
    """The longest of the places that a suite is in; of none, the empty string."""
    return max((place for place in places if f"{path}/".startswith(f"{place}/")), key=len, default="")
