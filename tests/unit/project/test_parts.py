"""The parts of CI: each test has one, and a change pays for every part that could notice it."""

import ast
import os
import re
from pathlib import Path

import pytest

from tests.parts import (
    BY_MAKE_TEST,
    CONCERNS,
    IN_MAKE_TEST,
    ONLY_IN_CI,
    PARTS,
    TESTS,
    concerned,
    part_of,
    places_of,
)

ROOT = Path(__file__).resolve().parents[3]
#: The statements that import something of ours.
IMPORTS = re.compile(
    r"^ *(?:from|import) (?:bench|confined|functions|local|shared|slipway)\b(?:[^(\n]*\([^)]*\)|[^(\n]*$)",
    re.MULTILINE,
)
#: Run by commands of their own, and by no job of the public workflow.
APART = ("tests/acceptance/kubernetes",)
#: Of these `make test` runs each suite.
WHOLE = ("tests/crash", "tests/fuzz", "tests/unit")
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))
SUITES = [path for path in MODULES if Path(path).name.startswith("test_") and not path.startswith(APART)]
#: What `make test` runs, or leaves to a part of CI; the rest has commands of its own.
LISTED = [
    path
    for path in MODULES
    if part_of(path) in BY_MAKE_TEST and path in SUITES and not path.startswith(WHOLE)
]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_place_of_the_tables_is_there() -> None:
    assert [place for place in (*TESTS, *CONCERNS) if not (ROOT / place).exists()] == []
    assert set(TESTS.values()) <= set(PARTS)
    assert {part for parts in CONCERNS.values() for part in parts} <= set(PARTS)


def test_every_test_has_a_part() -> None:
    assert len(SUITES) > 500
    assert [path for path in SUITES if not part_of(path)] == []


@pytest.mark.parametrize("part", BY_MAKE_TEST)
def test_what_pytest_takes_for_a_part_is_what_the_part_has(part: str) -> None:
    expected = [path for path in SUITES if part_of(path) == part]

    assert expected
    assert [path for path in SUITES if _is_taken(path, places_of([part]))] == expected


def test_all_parts_together_have_every_test_once() -> None:
    places = places_of(PARTS)
    expected = [path for path in SUITES if part_of(path) in BY_MAKE_TEST]

    assert [path for path in SUITES if _is_taken(path, places)] == expected
    assert places[-3:] == ["tests/unit", "--ignore=tests/acceptance/slurm", "--ignore=tests/contract/slurm"]


@pytest.mark.long
def test_a_change_of_a_module_concerns_each_part_whose_tests_import_it() -> None:
    unpaid = {
        f"{source} → {part_of(test)}"
        for test in SUITES
        for source in _imported(test)
        if part_of(test) not in concerned([source])
    }

    assert unpaid == set()


def test_a_change_of_a_page_concerns_each_part_whose_tests_read_pages() -> None:
    reads = re.compile(r"\"docs\"|docs/[\w-]+/[\w-]+\.(md|json)|README\.md")
    readers = {part_of(path) for path in SUITES if reads.search((ROOT / path).read_text("utf-8"))}

    assert {"unit", "guides"} <= readers
    assert readers - set(concerned(["docs/glossary.md"])) == READ_ELSEWHERE


#: A guide of which one test takes names: it changes with what this part tests.
READ_ELSEWHERE = {"app"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/how-to/deploy.md", ["check", "unit", "guides"]),
        ("web/src/main.tsx", ["check", "unit", "app", "page"]),
        ("shared/intake/accept.py", None),
        ("shared/engines/slurm/engine.py", None),
        ("tests/unit/core/test_job.py", ["check", "unit", "oldest"]),
        ("tests/contract/emulator/test_lists.py", ["check", "unit", "local"]),
    ],
)
def test_a_change_pays_for_its_parts(path: str, expected: list[str] | None) -> None:
    parts = concerned([path])

    assert parts == expected if expected else {"app", "engines", "journeys", "oldest"} <= set(parts)
    assert ("slurm" in parts) == path.startswith("shared/engines/")


def test_what_no_table_names_concerns_all() -> None:
    everything = list(PARTS)

    assert concerned(["docs/README.md", "new/thing.py"]) == everything
    assert concerned(["Makefile"]) == concerned([".ci/run"]) == concerned(["tests/conftest.py"]) == everything
    assert concerned([".github/workflows/ci.yml"]) == concerned(["requirements.txt"]) == everything
    assert concerned([]) == everything  # git could not say what has changed


def test_the_script_knows_every_part() -> None:
    expected = set(PARTS) - {"templates", *BY_MAKE_TEST}

    assert set(re.findall(r"wanted (\w+)", SCRIPT)) == expected


def test_the_workflow_runs_each_part_that_is_chosen_and_one_job_says_that_all_passed() -> None:
    assert "python3 -m tests.parts --since" in WORKFLOW
    assert "run: .ci/run ${{ matrix.part }}" in WORKFLOW
    jobs = re.findall(r"^  ([\w-]+):$", WORKFLOW.partition("\njobs:\n")[2], re.MULTILINE)
    (needed,) = re.findall(r"^  passed:\n(?:    .*\n)*?    needs: \[(.+)\]$", WORKFLOW, re.MULTILINE)

    assert sorted(needed.split(", ")) == sorted(set(jobs) - {"passed"})
    assert re.search(r"^  passed:\n(?:    .*\n)*?    if: always\(\)$", WORKFLOW, re.MULTILINE)


def test_the_nightly_workflow_runs_each_part_of_the_night() -> None:
    night = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")
    workflow = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    (parts,) = re.findall(r'^PARTS="(.+)"$', night, re.MULTILINE)
    (matrix,) = re.findall(r"part: \[(.+)\]", workflow)

    assert matrix.split(", ") == parts.split() == re.findall(r"^part (\w+) ", night, re.MULTILINE)
    assert "run: .ci/nightly ${{ matrix.part }}" in workflow
    assert set(re.findall(r"\bmake ([a-z-]+)", night)) - targets == set()
    assert {"test-all", "test-crash", "mutants", "fuzz", "chaos"} <= set(
        re.findall(r"\bmake ([a-z-]+)", night)
    )


def test_each_suite_is_listed_among_those_of_make_test_or_those_that_it_leaves_to_ci() -> None:
    strange = [path for path in LISTED if not _listed_by(path, IN_MAKE_TEST + ONLY_IN_CI)]

    assert strange == [], "name it in tests/parts.py, by its folder or by itself"
    assert set(IN_MAKE_TEST).isdisjoint(ONLY_IN_CI)


@pytest.mark.parametrize("place", [*IN_MAKE_TEST, *ONLY_IN_CI])
def test_each_place_of_the_lists_has_suites(place: str) -> None:
    assert [path for path in LISTED if _listed_by(path, IN_MAKE_TEST + ONLY_IN_CI) == place]


def test_no_folder_that_make_test_runs_has_a_suite_that_is_left() -> None:
    """Pytest takes a folder as a whole."""
    run = [path for path in LISTED if _listed_by(path, IN_MAKE_TEST)]

    assert [path for path in run if _listed_by(path, IN_MAKE_TEST + ONLY_IN_CI) in ONLY_IN_CI] == []


@pytest.mark.parametrize("name", ["run", "nightly"])
def test_a_script_of_ci_can_be_run(name: str) -> None:
    assert os.access(ROOT / ".ci" / name, os.X_OK)


def _listed_by(path: str, places: tuple[str, ...]) -> str:
    """The longest of the places that a suite is in; of none, the empty string."""
    return max((place for place in places if f"{path}/".startswith(f"{place}/")), key=len, default="")


def _is_taken(path: str, arguments: list[str]) -> bool:
    """As pytest goes by its arguments."""
    ways = {path, *map(str, Path(path).parents)}
    return not ways.isdisjoint(arguments) and ways.isdisjoint(
        one.removeprefix("--ignore=") for one in arguments if one.startswith("--")
    )


def _imported(test: str) -> set[str]:
    """The files of ours that a test imports, by name."""
    names = set()
    for line in IMPORTS.findall((ROOT / test).read_text(encoding="utf-8")):
        for statement in ast.parse(line.strip()).body:
            if isinstance(statement, ast.ImportFrom) and statement.module:
                names |= {statement.module, *(f"{statement.module}.{one.name}" for one in statement.names)}
            elif isinstance(statement, ast.Import):
                names |= {one.name for one in statement.names}
    return {file for name in names if (ROOT / (file := f"{name.replace('.', '/')}.py")).is_file()}
