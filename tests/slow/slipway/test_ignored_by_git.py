"""Which of the largest files git ignores."""

import subprocess
from pathlib import Path

from slipway.client.snapshot.words import ignored_by_git


def test_git_says_what_it_ignores_and_without_a_repository_nothing_is(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.bin\n")
    names = ["weights.bin", "ünï.bin", "train.py"]
    assert ignored_by_git(tmp_path / "absent", names) == set()

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    assert ignored_by_git(tmp_path, names) == {"weights.bin", "ünï.bin"}
