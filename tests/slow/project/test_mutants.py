"""What `make mutants` says when the tests fail by themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RUN = """
import sys
import pytest
from tests.mutants.__main__ import FLAGS, Report
from tests.mutants.running import Mutation
mutation = Mutation({}, Report({}, fresh=True, quick=True), lambda: False, 1)
sys.exit(pytest.main([*FLAGS, sys.argv[1]], plugins=[mutation]))
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("def test_a():\n    assert 1 == 2\n", "::test_a: {file}:2: AssertionError"),
        ("import nowhere\n", ": E   ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_test_that_fails_without_a_mutant_is_named(test: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(test)

    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(file)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode != 0
    # Before it, plugins warn of a folder without settings.
    assert ran.stderr.splitlines()[-1] == f"fails without any mutant: test_it.py{why.format(file=file)}"
