"""A job may protect what it saves from writing: another goes on from it all the same, and it is removed."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from shared.engines.launch import alone
from shared.engines.launch.shells import RESUME
from tests.slow.conftest import USER
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, NodesInShell, image
from tests.slow.engines.kubernetes.test_closed import Unprivileged
from tests.slow.engines.slurm.test_program import custom

#: What it protects, from the inside out.
PROTECTED = ((".",), ("deep",), ("deep/step", "deep", "."))


def _as_user(*command: str | Path) -> list[str]:
    """A command of a user to whom modes mean something."""
    setpriv = shutil.which("setpriv")
    assert setpriv is not None
    words = [str(one) for one in command]
    user = [setpriv, f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return [*user, *words] if os.getuid() == 0 else words


def _saved(folder: Path, protected: tuple[str, ...]) -> Path:
    saved = folder / "saved/earlier"
    (saved / "deep").mkdir(parents=True)
    (saved / "deep/step").write_text("7\n")
    for one in protected:
        (saved / one).chmod(0o444 if one == "deep/step" else 0o555)
    return saved


@pytest.mark.parametrize("protected", PROTECTED, ids="-".join)
def test_a_copy_of_it_is_made_and_can_be_written(folder: Path, protected: tuple[str, ...]) -> None:
    before, saved = _saved(folder, protected), folder / "saved/j"
    (folder / "run").mkdir()

    process = subprocess.run(
        _as_user("bash", "-c", RESUME, before, saved, folder / "run/saved"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    assert (saved / "deep/step").read_text() == "7\n"
    (saved / "more").touch()
    assert list((folder / "run").iterdir()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_program_in_shell_makes_it_as_well(folder: Path, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    node = Unprivileged(folder, shell=shell)
    node.site = replace(node.site, saved=str(folder / "saved/j"), resumed=str(_saved(folder, PROTECTED[-1])))

    assert node.run(**custom('cat "$SLIPWAY_SAVED/deep/step" && touch "$SLIPWAY_SAVED/more"')) == 0

    assert node.output("stdout.txt") == "7\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_copy_of_the_program_in_shell_that_comes_late_changes_nothing(tmp_path: Path, shell: str) -> None:
    """The node of a run was taken for dead, and copied on beside the next one."""
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    before, saved = _saved(tmp_path, ()), tmp_path / "saved/j"
    node = NodesInShell(tmp_path, shell=shell)
    node.site = replace(node.site, saved=str(saved), resumed=str(before))
    (tmp_path / "records/6-0/saved/half").mkdir(parents=True)  # of a pod that died while it copied
    late = Path(node.site.path, "cp")
    late.unlink()
    late.write_text(f'#!/bin/sh\n/bin/cp "$@" && mkdir {saved} && touch {saved}/of-the-other\n')
    late.chmod(0o755)

    assert node.run(**custom('ls "$SLIPWAY_SAVED"')) == 0

    assert node.output("stdout.txt") == "of-the-other\n"
    assert list((tmp_path / "records").glob("*/saved")) == []


def test_a_mv_that_cannot_tell_a_directory_from_a_place_in_it_is_enough(tmp_path: Path) -> None:
    node = NodesInShell(tmp_path, shell="dash")
    node.site = replace(node.site, saved=str(tmp_path / "saved/j"), resumed=str(_saved(tmp_path, ())))
    old = Path(node.site.path, "mv")
    old.unlink()
    old.write_text(
        '#!/bin/sh\n[ "$1" != -T ] || { echo "invalid option -- T" >&2; exit 1; }\nexec /bin/mv "$@"\n'
    )
    old.chmod(0o755)

    assert node.run(**custom('cat "$SLIPWAY_SAVED/deep/step"')) == 0

    assert node.output("stdout.txt") == "7\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_removed_with_the_records_of_its_job(folder: Path, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    saved, attempt = _saved(folder, PROTECTED[-1]), folder / "n-1"
    (saved / "link").parent.chmod(0o755)
    (folder / "others").mkdir(mode=0o555)
    (saved / "link").symlink_to(folder / "others")
    (saved / "link").parent.chmod(0o555)
    (attempt / "7-0/closed").mkdir(parents=True)
    (attempt / "7-0").chmod(0o555)
    path = image(folder / "bin", shell)

    process = subprocess.run(
        _as_user(path / "sh", "-c", alone.forgetting()),
        env={"PATH": str(path), "SLIPWAY_FORGET": f"{attempt}\tt.1\t{saved}", "SLIPWAY_ENDS": ""},
        check=False,
        timeout=30,
    )

    assert process.returncode == 0
    assert not saved.exists()
    assert not attempt.exists()
    assert (folder / "others").stat().st_mode & 0o777 == 0o555, "what a link names is another's"
