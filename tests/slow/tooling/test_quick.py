"""What `make quick` and `make test` run: every unit test once, and a failure of any command is one of all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import quick
from tests.parts import IN_MAKE_TEST, OF_OTHERS, OF_UNIT


def test_every_module_of_the_unit_tests_is_in_one_group() -> None:
    places = [quick.ROOT / place for group in quick.groups(quick.rooms()) for place in group]

    modules = [
        file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py"))
    ]

    assert sorted(modules) == sorted(quick.UNIT.rglob("test_*.py"))


def test_make_test_runs_some_cases_of_each_test_of_its_list_and_of_what_computes() -> None:
    commands = quick.commands_of_make_test(["-x"])

    number = {place: argv[3] for argv in commands for place in argv if place.startswith("tests/")}
    assert number == {
        **dict.fromkeys((*IN_MAKE_TEST, *quick.BESIDE_UNIT), f"--cases={OF_OTHERS}"),
        **dict.fromkeys(quick.rooms(), f"--cases={OF_UNIT}"),
    }
    assert sum(len(argv) for argv in commands) == len(number) + 7 * len(commands), "each place once"
    assert all(argv[-1] == "-x" for argv in commands)


def test_make_quick_runs_one_case_of_each_test_that_is_not_long_and_make_test_leaves_out_none() -> None:
    quickly = [argv for argv in quick.commands() if argv[0] == "pytest"]
    places = {place for argv in quickly for place in argv if place.startswith("tests/")}

    assert places == {*quick.rooms(), quick.OF_SOURCE}
    assert all(argv[3] == "--cases=1" and tuple(argv[-2:]) == quick.NOT_LONG for argv in quickly)
    assert [argv for argv in quick.commands_of_make_test() if "-m" in argv] == []


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ([], ["-m tests.quick --tests --all -x"]),
        (["TESTS=tests/unit/core tests/slow/core"], ["-j 2 test-computing test-waiting"]),
        (["TESTS=tests/slow/core"], [" test-computing test-waiting"]),
    ],
)
def test_make_test_without_names_runs_its_list_and_else_what_is_named(
    tests: list[str], expected: list[str]
) -> None:
    argv = ["make", "-n", "test", *tests, "BREADTH=--all", "MORE=-x"]
    # CI runs this by a make of its own, whose flags and variables (TESTS) a make below it would take as well.
    env = {"PATH": os.environ["PATH"]}
    shown = subprocess.run(argv, cwd=quick.ROOT, env=env, check=True, capture_output=True, text=True).stdout

    assert [line for line in expected if line not in shown] == []
    assert ("tests.quick" in shown) == (not tests)


def test_the_groups_take_about_as_long_as_each_other() -> None:
    sizes = {"a": 5, "b": 4, "c": 3, "d": 3, "e": 1}

    assert quick.divided(sizes, 2) == [["a", "d"], ["b", "c", "e"]]


@pytest.mark.parametrize(("codes", "result"), [((0, 0), 0), ((1, 0), 1), ((0, 2), 1)])
def test_a_command_that_fails_fails_all_and_the_others_run(
    codes: tuple[int, ...], result: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    programs = [tmp_path / f"{number}.py" for number in range(len(codes))]
    for program, code in zip(programs, codes, strict=True):
        program.write_text(f"print('has run', {code}); raise SystemExit({code})")

    assert quick.main([["python", str(program)] for program in programs], at_once=2) == result

    shown = capsys.readouterr().out
    assert [f"has run {code}" in shown for code in codes] == [True] * len(codes)
    assert ("1 of 2 commands failed" in shown) == bool(result)
