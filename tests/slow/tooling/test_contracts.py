"""Each import contract is broken by what it forbids, and no link is part of the project."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.breadth import one_each
from tests.slow.project.test_architecture import PACKAGES, ROOT, VIOLATIONS

#: One that breaks each contract; all of them with --all.
TRIED = one_each(VIOLATIONS, lambda violation: violation[0])


@pytest.mark.parametrize(("contract", "file", "line"), TRIED)
def test_a_violation_breaks_its_contract(contract: str, file: str, line: str, tmp_path: Path) -> None:
    for package in PACKAGES:
        if file.startswith(f"{package}/"):
            shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (tmp_path / package).symlink_to(ROOT / package)
    with (tmp_path / file).open("a") as module:
        module.write(f"\n{line}\n")

    lint = Path(sys.executable).with_name("lint-imports")
    options = ["--config", str(ROOT / ".importlinter"), "--contract", contract, "--no-cache", "--no-logo"]
    ran = subprocess.run([lint, *options], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "0 kept, 1 broken" in ran.stdout
    assert "is not allowed to import" in ran.stdout or "made acyclic by removing" in ran.stdout


def test_no_link_is_part_of_the_project() -> None:
    """A link into one machine takes the place of what bears its name on another: an environment, say."""
    assert [line for line in _files("--stage") if line.startswith("120000")] == []


def test_the_only_files_that_are_no_text_are_pictures_of_the_page() -> None:
    """What a run writes into the folder it is started in is easily committed with a change: a model, say."""
    binary = [name for name in _files() if (ROOT / name).is_file() and b"\0" in (ROOT / name).read_bytes()]
    assert [name for name in binary if not name.startswith("docs/images/")] == []


def _files(*options: str) -> list[str]:
    """What git lists."""
    listed = subprocess.run(
        ["git", "ls-files", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a checkout")
    return listed.stdout.splitlines()
