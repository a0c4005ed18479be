"""Which script of a folder runs, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.client.snapshot.choose import choose
from slipway.client.snapshot.walk import walk
from slipway.failure import Failure

GUARD = "if __name__ == '__main__':\n    run()\n"


def chosen(folder: Path, files: dict[str, str], name: str = "") -> tuple[str, str]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return choose(walk(folder), name)


@pytest.mark.parametrize(
    ("files", "script", "reason"),
    [
        ({"a.py": "", "lib/b.py": ""}, "a.py", ""),
        ({"a.sh": "", "data.csv": ""}, "a.sh", ""),
        ({"a.py": "", "a.sh": ""}, "a.py", "as Python comes before a.sh"),
        ({"setup.py": "", "conftest.py": "", "__init__.py": "", "run.sh": ""}, "run.sh", ""),
        ({"setup.py": "", "a.py": "", "b.py": GUARD}, "b.py", "the only one with a main guard"),
        ({"setup.py": "", "a.py": ""}, "a.py", ""),
        ({"test_gpu.py": ""}, "test_gpu.py", ""),
        ({"train.py": "", "main.py": "", "a.py": GUARD}, "train.py", "by its name"),
        ({"main.py": "", "a.py": GUARD}, "main.py", "by its name"),
        ({"a.py": "", "b.py": f"import a\n{GUARD}"}, "b.py", "the only one with a main guard"),
        (
            {"features.py": "", "fit.py": "from features import x\n"},
            "fit.py",
            "the one that no other imports",
        ),
        (
            {"a.py": "import os, b\n", "b.py": "import c.d\n", "c.py": ""},
            "a.py",
            "the one that no other imports",
        ),
        (
            {"a.py": "", "test_a.py": GUARD, "setup.py": GUARD, "conftest.py": ""},
            "a.py",
            "",
        ),
    ],
)
def test_one_of_several_scripts_is_chosen(
    tmp_path: Path, files: dict[str, str], script: str, reason: str
) -> None:
    assert chosen(tmp_path, files) == (script, reason)


@pytest.mark.parametrize(
    "files",
    [{}, {"a.txt": ""}, {"a.py": "", "b.py": ""}, {"a.py": GUARD, "b.py": GUARD}, {"a.sh": "", "b.sh": ""}],
)
def test_what_is_not_clear_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(Failure, match="name the one that runs by --script"):
        chosen(tmp_path, files)


def test_one_that_is_named_runs_wherever_it_is(tmp_path: Path) -> None:
    files = {"train.py": "", "src/fit.py": ""}

    assert chosen(tmp_path, files, "src/fit.py") == ("src/fit.py", "")
    assert chosen(tmp_path, files, "./src/fit.py") == ("src/fit.py", "")
    with pytest.raises(Failure, match="which does not have it"):
        chosen(tmp_path, files, "fit.py")


def test_one_that_is_left_out_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="which is not sent"):
        chosen(tmp_path, {".slipwayignore": "*.py\n", "a.py": ""}, "a.py")
