"""docs/reference/what-a-job-may-rely-on.md: its table, and for each row the test on every engine."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from shared.engines.registry import ENGINES

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/reference/what-a-job-may-rely-on.md"
_ENGINE = "tests/contract/test_engine.py"
_PACKAGES = "tests/acceptance/own_code/test_packages.py"
_YES = dict.fromkeys(ENGINES, "yes")


class Row(NamedTuple):
    """What a job may rely on, the page's word for each engine, and the test."""

    words: str
    test: str
    cells: Mapping[str, str] = _YES


ROWS = (
    Row(
        "the folder as it was accepted, as the working directory of preparation and script: each node's own "
        "copy, new in each run",
        f"{_ENGINE}::test_each_attempt_runs_the_accepted_code_in_its_own_copy_on_each_node",
    ),
    Row(
        "the packages that the folder lists, with their commands on PATH, beside those of the node or image",
        f"{_PACKAGES}::test_packages_of_a_folder_are_installed_as_at_home",
        {**_YES, "slurm": "yes; with Apptainer or a bundle the image brings them"},
    ),
    Row(
        "an environment that an earlier job with the same lists has made, where the cluster keeps them",
        f"{_PACKAGES}::test_packages_are_installed_once_for_jobs_of_the_same_lists",
    ),
    Row(
        "its variables are those of its own processes alone: nothing else that Slipway starts gets them",
        f"{_ENGINE}::test_what_the_job_chose_reaches_its_own_processes_alone",
    ),
    Row(
        "what an attempt wrote stays when the next one has run, its log included",
        f"{_ENGINE}::test_what_an_attempt_wrote_stays_when_the_next_one_has_run",
    ),
    Row(
        "a job that is submitted twice runs once",
        f"{_ENGINE}::test_submitting_again_with_the_same_token_is_success_and_starts_nothing",
    ),
)


def table() -> str:
    """The table as the page has it."""
    lines = [
        f"| | {' | '.join(entry.title for entry in ENGINES.values())} |",
        f"|---|{'---|' * len(ENGINES)}",
        *(f"| {row.words} | {' | '.join(row.cells[engine] for engine in ENGINES)} |" for row in ROWS),
    ]
    return "\n".join(lines)


def test_the_page_has_the_table() -> None:
    assert f"\n\n{table()}\n\n" in PAGE.read_text(encoding="utf-8"), table()


@pytest.mark.parametrize("test", [row.test for row in ROWS])
def test_each_row_has_its_test(test: str) -> None:
    file, _, name = test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))

    assert name in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
