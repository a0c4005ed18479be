"""The scripts of .ci with other programs in place of make and Python, which only say what they are asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.parts import BY_MAKE_TEST, PARTS, places_of

ROOT = Path(__file__).resolve().parents[3]
#: One that fails when its words are those of FAIL.
MAKE = """#!/bin/sh
echo "MAKE $*" >> asked
case "$*" in *"${FAIL:-nothing at all}"*) echo "FAILED tests/one.py::test_one"; exit 1;; esac
"""
PYTHON = """#!/bin/sh
echo "PYTHON $*" >> asked
case "$*" in *version_info*) echo 3.13;; esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the scripts and no tests, where each program is another one."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "tests").mkdir()
    for name in ("tests/__init__.py", "tests/parts.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    programs = {"bin/make": MAKE, "bin/python3.11": PYTHON}
    programs |= {f"bin/{name}": "#!/bin/sh\n" for name in ("mpirun", "runc", "busybox", "valgrind")}
    programs |= {".venv/bin/python": PYTHON, ".venv311/bin/python": PYTHON}
    for name, text in programs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o700)
    return tmp_path


def test_a_run_asks_for_each_suite_once(checkout: Path) -> None:
    done = run(checkout, "run")

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("nothing was skipped\n")
    everything, oldest = " ".join(places_of(PARTS)), "RUN=.venv311/bin"
    ignored = " ".join(f"--ignore={place}" for place in on_any_python(checkout))
    suites = [line for line in requests(checkout) if line.startswith(("MAKE", "PYTHON -m pytest"))]
    assert sorted(line.partition(" MORE=")[0].partition(" -q")[0] for line in suites) == [
        "MAKE check",
        "MAKE install",
        "MAKE install-browser",
        "MAKE install-slurm",
        "MAKE test-browser",
        f"MAKE test-computing {oldest} TESTS=tests/fuzz tests/unit {ignored}",
        f"MAKE test-computing TESTS={everything}",
        "MAKE test-install",
        "MAKE test-slurm",
        "MAKE test-slurm SLURM=24.11 ON_SLURM=tests/contract/slurm",
        f"MAKE test-waiting {oldest} TESTS=tests/slow {ignored}",
        f"MAKE test-waiting TESTS={everything}",
    ]


def test_a_part_asks_for_its_suite_alone(checkout: Path) -> None:
    assert run(checkout, "run", "unit").returncode == 0

    assert sorted(line.partition(" MORE=")[0] for line in requests(checkout)) == [
        "MAKE install",
        "MAKE test-computing TESTS=tests/slow/project tests/slow/tooling tests/unit",
        "MAKE test-waiting TESTS=tests/slow/project tests/slow/tooling tests/unit",
    ]


@pytest.mark.parametrize(("part", "name"), [("check", "check"), ("slurm", "slurm-24.11"), ("app", "waiting")])
def test_a_step_that_fails_is_named_at_the_end_wherever_it_ran(part: str, name: str, checkout: Path) -> None:
    failing = {"check": "check", "slurm-24.11": "SLURM=24.11", "waiting": "test-waiting"}[name]

    done = run(checkout, "run", part, FAIL=failing)

    assert done.returncode == 1
    assert done.stdout.endswith(f"FAILED:\n  {name}:\n    FAILED tests/one.py::test_one\n")


@pytest.mark.parametrize("name", ["run", "nightly"])
def test_a_part_that_is_not_known_is_refused_before_anything_runs(name: str, checkout: Path) -> None:
    done = run(checkout, name, "everything")

    assert done.returncode == 2
    assert "everything: not a part; choose among " in done.stdout + done.stderr
    assert requests(checkout) == []


def test_the_night_asks_for_each_part_and_goes_on_after_one_that_fails(checkout: Path) -> None:
    done = run(checkout, "nightly", FAIL="test-all")

    assert done.returncode == 1
    targets = [line.split()[1] for line in requests(checkout) if line.startswith("MAKE")]
    assert {"test-all", "test-crash", "mutants", "chaos-sim", "fuzz", "chaos"} <= set(targets)
    whole = "RUN=.venv311/bin BREADTH=--all TESTS=tests/"
    assert len([line for line in requests(checkout) if whole in line and "--ignore" not in line]) == 2
    assert "FAILED:\n  cases:\n" in done.stdout


def test_every_place_that_the_oldest_python_leaves_to_the_others_is_there(checkout: Path) -> None:
    places = on_any_python(checkout)

    assert places
    assert [place for place in places if not (ROOT / place).is_dir()] == []


@pytest.mark.parametrize("part", BY_MAKE_TEST)
def test_each_place_of_a_part_is_run_by_one_of_the_two_commands_in_its_representative_breadth(
    part: str,
) -> None:
    expected = places_of([part])
    commands = pytest_of(f"TESTS={' '.join(expected)}")

    places = [word for command in commands for word in command if word.startswith("tests/")]
    assert sorted(places) == sorted(place for place in expected if not place.startswith("--"))
    ignored = {place for place in expected if place.startswith("--")}
    assert all(ignored <= set(command) for command in commands)
    assert not any(word.startswith("--cases") for command in commands for word in command)


def test_no_part_is_left_out_by_the_script(checkout: Path) -> None:
    for part in set(PARTS) - {"templates"}:
        (checkout / "asked").unlink(missing_ok=True)

        assert run(checkout, "run", part).returncode == 0
        assert len(requests(checkout)) > 1, part


def pytest_of(tests: str) -> list[list[str]]:
    """The two commands of `make test TESTS=…`, in words."""
    argv = ["make", "-n", "test-computing", "test-waiting", tests]
    shown = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [line.split() for line in shown.splitlines() if " -m pytest " in line]


def on_any_python(checkout: Path) -> list[str]:
    argv = ["bash", "-c", ". .ci/steps && printf '%s\\n' \"${ON_ANY_PYTHON[@]}\""]
    return subprocess.run(argv, cwd=checkout, check=True, capture_output=True, text=True).stdout.split()


def run(checkout: Path, script: str, *parts: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One of the scripts, in the folder."""
    path = os.pathsep.join([str(checkout / "bin"), os.environ["PATH"]])
    return subprocess.run(
        [str(checkout / ".ci" / script), *parts],
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def requests(checkout: Path) -> list[str]:
    """What the programs were asked, in order."""
    place = checkout / "asked"
    return place.read_text().splitlines() if place.exists() else []
