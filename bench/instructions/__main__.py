"""`python -m bench.instructions`: what a job costs, in counts that do not depend on the machine's load.

Instructions are those of the worker's own code, by Cachegrind (Debian: `apt-get install valgrind`): storage
and receiver answer in the process, and the hash seed is fixed. `--check` compares all counts with the bounds
beside this file, and ends with 1 if one is exceeded: a change that costs more raises its bound in the same
commit, and says what for. Where there is no Cachegrind, the other counts are compared, and the last line says
so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench.world import ROOT

_BOUNDS = Path(__file__).with_name("bounds.json")
#: Jobs of a count; more make it no more exact.
_JOBS = 64
_PROGRAM = (sys.executable, "-m", "bench.instructions.jobs", str(_JOBS))
_REFERENCES = re.compile(r"I\s+refs:\s+([\d,]+)")
#: By how much the same code may differ on another build of Python or of its libraries.
_OTHER_BUILD = 1.15


def counts() -> dict[str, float]:
    """A job's requests, rows, bytes and calls of functions; its instructions if they can be counted."""
    figures: dict[str, float] = json.loads(_output(_PROGRAM).stdout)
    if shutil.which("valgrind"):
        figures["instructions"] = _instructions()
    return figures


def _instructions() -> float:
    tool = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    text = _output((*tool, *_PROGRAM, "--fork")).stderr
    one, other = (int(number.replace(",", "")) for number in _REFERENCES.findall(text))
    return abs(one - other) / _JOBS


def _output(command: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr[-2000:]}")
    return ran


def same_build(python: str) -> dict[str, bool]:
    """By count, whether this Python counts as the one of the bounds did; storage is asked the same by all."""
    return {
        "calls": python.split(".")[:2] == sys.version.split(".")[:2],
        "instructions": python == sys.version,
    }


def exceeded(figures: dict[str, float], bounds: dict[str, float], alike: dict[str, bool]) -> list[str]:
    """The counts above their bounds, as sentences."""
    return [
        f"a job takes {figures[name]:,.2f} {name}, and at most {bound:,} are allowed"
        for name, bound in bounds.items()
        if figures.get(name, 0.0) > bound * (1.0 if alike.get(name, True) else _OTHER_BUILD)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the counts, and compare them if asked to."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with 1 if a bound is exceeded")
    options = parser.parse_args(arguments)
    figures, limits = counts(), json.loads(_BOUNDS.read_text())
    sys.stdout.writelines(f"{name:12} {number:14,.2f}\n" for name, number in figures.items())
    wrong = exceeded(figures, limits["bounds"], same_build(limits["python"]))
    sys.stdout.writelines(f"{one}\n" for one in wrong)
    if "instructions" not in figures:
        sys.stdout.write("NOT COUNTED: instructions; install valgrind (Debian: apt-get install valgrind)\n")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
