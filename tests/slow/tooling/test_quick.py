"""What `make quick` runs: every unit test once, and a failure of any command is one of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import quick


def test_every_module_of_the_unit_tests_is_in_one_group() -> None:
    places = [quick.ROOT / place for group in quick.groups(quick.rooms()) for place in group]

    modules = [
        file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py"))
    ]

    assert sorted(modules) == sorted(quick.UNIT.rglob("test_*.py"))


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

    assert quick.main([["python", str(program)] for program in programs]) == result

    shown = capsys.readouterr().out
    assert [f"has run {code}" in shown for code in codes] == [True] * len(codes)
    assert ("1 of 2 commands failed" in shown) == bool(result)
