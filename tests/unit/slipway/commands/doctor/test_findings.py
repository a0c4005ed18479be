"""How `slipway doctor` shows what it found, and what it finds on the machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from slipway.commands.doctor.findings import fail, lines, ok, warn
from slipway.commands.doctor.machine import disk, python

GIB = 1 << 30


def test_a_finding_is_one_line_and_the_last_line_counts() -> None:
    assert lines([ok("a", "fine"), warn("longer", "old", "renew it"), fail("b", "gone")]) == [
        "ok    a       fine",
        "warn  longer  old; renew it",
        "fail  b       gone",
        "",
        "1 failure, 1 warning",
    ]
    assert lines([ok("a", "fine")])[-1] == "everything works"


def test_a_terminal_gets_lines_that_fit_and_colours() -> None:
    shown = lines([fail("app", "word " * 30, "remedy")], 60, colour=True)

    assert shown[0].startswith("\x1b[31mfail\x1b[0m  app  word")
    assert all(line.startswith(" " * 11) for line in shown[1:-2])
    assert max(len(line) for line in shown[1:]) <= 60


def test_what_a_service_says_moves_no_cursor() -> None:
    (line, *_) = lines([fail("cluster", "\x1b[2Jgone\nok    key  \x1b]0;x\x07")])
    assert "\x1b" not in line
    assert "\x07" not in line


@pytest.mark.parametrize(("free", "outcome"), [(0, "fail"), (GIB, "warn"), (10 * GIB, "ok")])
def test_a_full_disk_is_noticed(free: int, outcome: str) -> None:
    assert disk(Path("/data"), free).outcome == outcome


def test_a_python_that_was_not_tested_is_a_warning() -> None:
    assert python((3, 99)).outcome == "warn"
    assert python(sys.version_info[:2]).outcome == "ok"
