"""`python -m tests.mutants.hand [WORD …]`: which changes of table.py the fast tests do not notice.

Each is made in a copy of the checkout, where pytest runs the tests of its room until the first failure. With
words, only changes whose file or text has one of them. 1 with the names of those that are not noticed, or
stand in their file no more.
"""

from __future__ import annotations

import argparse
import itertools
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.table import CHANGES, NOTICED_BY, Change
from tests.parts import OF_OTHERS, OF_UNIT, ONLY_IN_CI

ROOT = Path(__file__).resolve().parents[2]
#: What is built or installed, and git does not know; the copies share it.
_SHARED = (".venv", "node_modules", "page", "web/node_modules")
#: Seconds for the tests of a room. A change after which they do not end is noticed.
_LONGEST = 900
_FLAGS = ("-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=line")
#: What `make test` does not run: nothing has to be noticed only there.
_IGNORED = tuple(f"--ignore={place}" for place in ONLY_IN_CI)
#: The end of pytest's run in which a test failed, or modules could not be imported.
_NOTICED = (1, 2)
#: The end of a run in which nothing failed, or every test was left out.
_PASSED = (0, 5)


def noticed_by(change: Change) -> list[str]:
    """The paths of the tests of its room."""
    place = max((place for place in NOTICED_BY if change.file.startswith(place)), key=len)
    return NOTICED_BY[place].split()


def namesakes(change: Change, root: Path = ROOT) -> list[str]:
    """The files among them that are named for its module: most changes are noticed there, in seconds."""
    module = Path(change.file)
    stem = module.parent.name if module.stem == "__init__" else module.stem
    folders = [root / path for path in noticed_by(change) if (root / path).is_dir()]
    files = [file for folder in folders for file in folder.rglob(f"test_{stem}*.py")]
    return [str(file.relative_to(root)) for file in files]


def is_there(change: Change, root: Path = ROOT) -> bool:
    """Whether its text stands in the file, once."""
    return (root / change.file).read_text(encoding="utf-8").count(change.old) == 1


class Copies:
    """Checkouts of which each change gets one that no other uses meanwhile."""

    def __init__(self, folder: Path, count: int) -> None:
        # Some tests run programs of the checkout as another user; else they would notice every change.
        folder.chmod(0o755)
        self._free: queue.Queue[Path] = queue.Queue()
        self._moments = itertools.count(int(time.time()) + 1)
        for number in range(count):
            self._free.put(copy(folder / str(number)))

    def outcome(self, change: Change) -> tuple[str, float]:
        """What noticed it, or the empty string, and the seconds that it took."""
        folder, began = self._free.get(), time.monotonic()
        file = folder / change.file
        original = file.read_text(encoding="utf-8")
        try:
            self._write(file, original.replace(change.old, change.new))
            first = namesakes(change)
            outcome = (first and noticed(folder, first)) or noticed(folder, noticed_by(change))
            return outcome, time.monotonic() - began
        finally:
            self._write(file, original)
            self._free.put(folder)

    def _write(self, file: Path, text: str) -> None:
        """With a time of its own, by which Python sees that its bytecode is of another text."""
        file.write_text(text, encoding="utf-8")
        moment = next(self._moments)
        os.utime(file, (moment, moment))


def copy(folder: Path) -> Path:
    """What git lists or would list of this checkout, and links to what is installed."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for name in _SHARED:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    return folder


def noticed(folder: Path, tests: list[str]) -> str:
    """The first test that fails as `make test` runs these, or what else ended them; empty when all passed."""
    unit = [path for path in tests if path.startswith("tests/unit")]
    others = [path for path in tests if path not in unit]
    first = _noticed(folder, unit, OF_UNIT) if unit else ""
    return first or (_noticed(folder, others, OF_OTHERS) if others else "")


def _noticed(folder: Path, tests: list[str], cases: int) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    argv = [sys.executable, "-m", "pytest", *_FLAGS, *_IGNORED, f"--cases={cases}", *tests]
    try:
        done = subprocess.run(
            argv, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_LONGEST
        )
    except subprocess.TimeoutExpired:
        return "tests that do not end"
    if done.returncode in _PASSED:
        return ""
    if done.returncode not in _NOTICED:
        raise RuntimeError(f"pytest {' '.join(tests)}: {(done.stdout + done.stderr)[-2000:]}")
    failed = [
        line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))
    ]
    return failed[0] if failed else "an import that fails"


def say(text: str) -> None:
    """One line for the person who waits."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """0 when each is noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.hand", description=__doc__)
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="of the file or the text; all changes by default"
    )
    parser.add_argument("--sample", type=float, default=1.0, help="share of the changes, drawn by chance")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="changes at once")
    options = parser.parse_args(arguments)
    chosen = [
        one for one in CHANGES if not options.words or any(word in " ".join(one) for word in options.words)
    ]
    chosen = [one for one in chosen if random.random() < options.sample]
    lost = [one for one in chosen if not is_there(one)]
    unnoticed = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as place, ThreadPoolExecutor(options.jobs) as pool:
        copies = Copies(Path(place), options.jobs)
        tried = [one for one in chosen if one not in lost]
        for change, (outcome, seconds) in zip(tried, pool.map(copies.outcome, tried), strict=True):
            say(f"{seconds:5.1f} s  {change.file}: {change.new}: {outcome or 'NOT NOTICED'}")
            unnoticed += [change] if not outcome else []
    say(f"{len(chosen)} changes, {len(chosen) - len(lost) - len(unnoticed)} noticed")
    for one in lost:
        say(f"  not in its file, or more than once: {one.file}: {one.old}")
    for one in unnoticed:
        say(f"  not noticed: {one.file}: {one.old} → {one.new}")
    return 1 if lost or unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
