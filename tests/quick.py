"""`python -m tests.quick`: what `make quick` checks; `… --tests OPTION…`: what `make test` runs.

Several commands at a time, among them plain runs of pytest, each with some rooms: the tests are so many and
so short that workers of pytest-xdist, each of which collects them all, take a third of their time.
Writes what each command wrote when it ends; 1 if one failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, zip_longest
from pathlib import Path

from tests.parts import GROUPS_OF_MAKE_TEST, OF_OTHERS, OF_UNIT

ROOT = Path(__file__).resolve().parents[1]
UNIT = ROOT / "tests" / "unit"
CHECKS = (
    ("mypy",),
    ("lint-imports", "--no-logo"),
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
)
#: Of the source as a whole.
OF_SOURCE = "tests/slow/project"
#: Each takes a second or two to start.
GROUPS, GROUPS_OF_SOME = 3, 4
#: What `make quick` leaves to `make test`.
NOT_LONG = ("-m", "not long")
#: What computes only, too.
BESIDE_UNIT = ("tests/crash", "tests/fuzz")
#: Of four runs of tests, two usually wait for another process: two processors are busy.
WAITING = 2


def rooms() -> list[str]:
    """What is in `tests/unit`: its folders, and the modules beside them."""
    places = [place for place in UNIT.iterdir() if any(place.glob("**/test_*.py")) or _is_test(place)]
    return sorted(place.relative_to(ROOT).as_posix() for place in places)


def groups(places: Iterable[str], number: int = GROUPS) -> list[list[str]]:
    """The places in groups that take about as long as each other: the size of their source tells."""
    return divided({place: _size(ROOT / place) for place in places}, number)


def divided(sizes: Mapping[str, int], number: int) -> list[list[str]]:
    """What has these sizes, in so many groups of about the same size."""
    result: list[list[str]] = [[] for _ in range(number)]
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        min(result, key=lambda group: sum(sizes[one] for one in group)).append(name)
    return result


def commands() -> list[list[str]]:
    """All that `make quick` runs, the longest first."""
    tests = [*groups(rooms()), [OF_SOURCE]]
    return [*(_pytest(places, 1, NOT_LONG) for places in tests), *map(list, CHECKS)]


def commands_of_make_test(options: Sequence[str] = ()) -> list[list[str]]:
    """All that `make test` runs: those that mostly wait take turns with those that only compute."""
    waiting = (_pytest(places, OF_OTHERS, options) for places in GROUPS_OF_MAKE_TEST)
    computing = [_pytest(BESIDE_UNIT, OF_OTHERS, options)]
    computing += [_pytest(places, OF_UNIT, options) for places in groups(rooms(), GROUPS_OF_SOME)]
    return [argv for argv in chain(*zip_longest(waiting, computing)) if argv is not None]


def _pytest(places: Iterable[str], cases: int, options: Sequence[str] = ()) -> list[str]:
    return ["pytest", "-q", "-n0", f"--cases={cases}", "-p", "no:cacheprovider", *places, *options]


def run(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """One program of this environment, to its end."""
    program = Path(sys.executable).with_name(argv[0])
    return subprocess.run(
        [str(program), *argv[1:]],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def main(every: Iterable[Sequence[str]], at_once: int) -> int:
    """Run everything, even after a failure; the number of commands that failed is in the last line."""
    failed = 0
    with ThreadPoolExecutor(at_once) as pool:
        runs = {pool.submit(run, argv): argv for argv in every}
        for done in as_completed(runs):
            ended = done.result()
            failed += bool(ended.returncode)
            sys.stdout.write(f"-- {' '.join(runs[done])}\n{ended.stdout}")
            sys.stdout.flush()
    sys.stdout.write(f"{failed} of {len(runs)} commands failed\n" if failed else "")
    return bool(failed)


def _is_test(place: Path) -> bool:
    return place.name.startswith("test_") and place.suffix == ".py"


def _size(place: Path) -> int:
    files = [place] if place.is_file() else place.rglob("*.py")
    return sum(file.stat().st_size for file in files)


if __name__ == "__main__":
    processors = os.cpu_count() or 1
    if sys.argv[1:2] == ["--tests"]:
        sys.exit(main(commands_of_make_test(sys.argv[2:]), processors + WAITING))
    sys.exit(main(commands(), processors))
