"""`python -m tests.mutants [MODULE …]`: which small wrong changes no test notices.

Survivors that are listed in equivalent.txt, with the reason, are expected; any other one, and one of the list
that a test notices after all, fails the run. One that was caught is not run again while its function stays.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.operators import Mutant
from tests.mutants.running import CAUGHT, Mutation

ROOT = Path(__file__).resolve().parents[2]
#: What is mutated, with the rooms within: the life of a job, from its door to its last delivery.
ROOMS = ("shared/intake", "shared/lifecycle", "shared/admission", "shared/delivery")
#: What has to notice: the tests that need no other process.
TESTS = (
    "tests/unit/lifecycle",
    "tests/unit/admission",
    "tests/unit/intake",
    "tests/unit/delivery",
    "tests/unit/operate",
    "tests/unit/core",
    "tests/unit/functions",
    "tests/slow/delivery",
    "tests/mutants/stories.py",
)
#: Of pytest: no words of its own.
FLAGS = ("-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:terminal")
#: Of our tests: no limits, for `forked` has others.
NO_LIMIT = "--limit=0"
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
CACHE = ROOT / ".local" / "mutants.json"


def equivalents(text: str) -> dict[str, str]:
    """Name → reason, of paragraphs: lines `MODULE: MUTANT` and below them, indented, why no test can tell."""
    goldens: dict[str, str] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        if line.startswith("    ") and line.strip():
            goldens.update(dict.fromkeys(waiting, line.strip()))
            waiting = []
        elif line and not line.startswith("#"):
            waiting.append(line)
    if waiting:
        raise ValueError(f"no reason is given for {waiting[0]}")
    return goldens


def modules_of(named: list[str]) -> list[Path]:
    """The files of what is named, by default of all rooms; a folder's with those of the folders in it."""
    expected = named or list(ROOMS)
    results = []
    for name in expected:
        place = ROOT / name
        results += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [module for module in results if module.name != "__init__.py"]


class Report:
    """What came of the mutants: told, counted and, of those that were caught, kept for the next run."""

    def __init__(self, expected: dict[str, str], fresh: bool, quick: bool) -> None:
        self._expected = expected
        self._quick = quick
        self._as_expected = True
        self._counts: Counter[str] = Counter()
        #: name → version of its function, of mutants that were caught; the tests may have grown since
        self._versions: dict[str, str] = {} if fresh or not CACHE.exists() else json.loads(CACHE.read_text())
        self._new: dict[str, str] = {}

    def known_outcome(self, module: str, mutant: Mutant) -> str | None:
        """The outcome of an earlier run."""
        return CAUGHT if self._versions.get(f"{module}: {mutant.name}") == mutant.version else None

    def thorough(self, module: str, mutant: Mutant) -> bool:
        """Whether it meets all tests that run it when none of the first notices it."""
        return not self._quick and f"{module}: {mutant.name}" not in self._expected

    def note_outcome(self, module: str, mutant: Mutant, outcome: str) -> None:
        name = f"{module}: {mutant.name}"
        if outcome == CAUGHT:
            self._new[name] = mutant.version
        if outcome != CAUGHT and name in self._expected:
            outcome = "equivalent"
        elif outcome != CAUGHT:
            self._as_expected = False
            say(f"{outcome}: {name}")
        elif name in self._expected:
            self._as_expected = False
            say(f"caught, though listed as equivalent: {name}")
        self._counts[outcome] += 1
        if self._counts.total() % 50 == 0:
            self._keep()

    def ended(self, module: str) -> bool:
        """A line for each module."""
        self._keep()
        reports = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self._counts.items()))
        say(f"{module}: {reports or 'nothing to change'}")
        return self._as_expected

    def failed(self, test: str) -> None:
        """Without a mutant: there is nothing to compare with."""
        self._as_expected = False
        say(f"fails without any mutant: {test}")

    def _keep(self) -> None:
        """For the next run; what another run found at the same time stays."""
        CACHE.parent.mkdir(exist_ok=True)
        with CACHE.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            report = json.loads(file.read() or "{}") | self._new
            file.truncate(0)
            json.dump(report, file, indent=0)


def _name(module: Path) -> str:
    return str(module.relative_to(ROOT))


def say(text: str) -> None:
    """One line for the person who waits."""
    sys.__stderr__.write(text + "\n")  # type: ignore[union-attr]
    sys.__stderr__.flush()  # type: ignore[union-attr]


def main(arguments: list[str] | None = None) -> int:
    """0 when every survivor is expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "modules",
        nargs="*",
        help="e.g. shared/lifecycle/sweeper.py; all of intake, lifecycle, admission and delivery by default",
    )
    parser.add_argument("--sample", type=float, default=1.0, help="share of the mutants, drawn by chance")
    parser.add_argument("--fresh", action="store_true", help="do not go by what earlier runs found")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a second of tests for each: the others may catch what survives",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="modules at once")
    options = parser.parse_args(arguments)
    if not hasattr(sys, "monitoring"):
        parser.error("sys.monitoring, which says what a test runs, needs Python 3.12 or newer")
    modules = modules_of(options.modules)
    report = Report(equivalents(EQUIVALENT.read_text(encoding="utf-8")), options.fresh, options.quick)
    names = {module: _name(module) for module in modules}
    mutation = Mutation(names, report, lambda: random.random() < options.sample, options.jobs)
    status = pytest.main(
        ["--all", *FLAGS, NO_LIMIT, *(str(ROOT / test) for test in TESTS)], plugins=[mutation]
    )
    ran = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return 0 if ran and mutation.as_expected else 1


if __name__ == "__main__":
    sys.exit(main())
