"""What `make mutants` says when the tests fail by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.breadth import every_few

ROOT = Path(__file__).resolve().parents[3]
RUN = """
import sys
from pathlib import Path
import pytest
from tests.mutants.__main__ import FLAGS, Report
from tests.mutants.running import Mutation
modules = {Path(name): name for name in sys.argv[2:]}
mutation = Mutation(modules, Report({}, fresh=True, quick=True), lambda: False, 1)
status = pytest.main([*FLAGS, sys.argv[1]], plugins=[mutation])
sys.exit(status or not mutation.as_expected)
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
@pytest.mark.parametrize(
    ("test", "why"),
    every_few(
        [
            ("def test_a():\n    assert 1 == 2\n", "::test_a: test_it.py:2: AssertionError"),
            ("import os\ndef test_a():\n    os._exit(0)\n", "::test_a: it ends the process that runs it"),
            ("import nowhere\n", ": E   ModuleNotFoundError: No module named 'nowhere'"),
        ],
        0,
    ),
)
def test_a_test_that_fails_without_a_mutant_is_named(test: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(test)

    ran = run(file)

    assert ran.returncode != 0
    # Before it, plugins warn of a folder without settings.
    assert ran.stderr.splitlines()[-1] == f"fails without any mutant: test_it.py{why}"


ONCE = """
from pathlib import Path
from changed import one

def test_once():
    Path(__file__).with_name("seen").touch(exist_ok=False)
    assert one() == 1
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_a_test_that_fails_the_second_time_is_named(tmp_path: Path) -> None:
    module, file = tmp_path / "changed.py", tmp_path / "test_it.py"
    module.write_text("def one():\n    return 1\n")
    file.write_text(ONCE)

    ran = run(file, module)

    assert ran.returncode != 0
    assert ran.stderr.splitlines()[-1] == (
        "fails without any mutant: test_it.py::test_once: after the other tests of one"
    )


def run(*files: Path) -> subprocess.CompletedProcess[str]:
    """The tests of the first file, on mutants of the others."""
    # From their folder: elsewhere pytest shortens their names by what they and the checkout have in common.
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, files)],
        cwd=files[0].parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
