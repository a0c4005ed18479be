"""`python -m tests.quick`: what `make quick` checks, one command for each processor at a time.

The unit tests are divided by rooms among plain runs of pytest: they are so many and so short that workers of
pytest-xdist, each of which collects them all, take a third of their time.
Writes what each command wrote when it ends; 1 if one failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

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
GROUPS = 4


def rooms() -> list[str]:
    """What is in `tests/unit`: its folders, and the modules beside them."""
    places = [place for place in UNIT.iterdir() if any(place.glob("**/test_*.py")) or _is_test(place)]
    return sorted(place.relative_to(ROOT).as_posix() for place in places)


def groups(places: Iterable[str]) -> list[list[str]]:
    """The places in groups that take about as long as each other: the size of their source tells."""
    return divided({place: _size(ROOT / place) for place in places}, GROUPS)


def divided(sizes: Mapping[str, int], number: int) -> list[list[str]]:
    """What has these sizes, in so many groups of about the same size."""
    result: list[list[str]] = [[] for _ in range(number)]
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        min(result, key=lambda group: sum(sizes[one] for one in group)).append(name)
    return result


def commands() -> list[list[str]]:
    """All that is run, the longest first."""
    tests = [*groups(rooms()), [OF_SOURCE]]
    return [
        *(["pytest", "-q", "-n0", "--cases=2", "-p", "no:cacheprovider", *places] for places in tests),
        *map(list, CHECKS),
    ]


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


def main(every: Iterable[Sequence[str]]) -> int:
    """Run everything, even after a failure; the number of commands that failed is in the last line."""
    failed = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
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
    sys.exit(main(commands()))
