"""Through the front door, on every local cluster: a folder runs with the packages that it lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, unique
from tests.doubles.packages import project, wheel

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Prints what a list of packages gives to a script, as it does at home.
_PACKAGED = {
    "sh": ("train.sh", "tiny\npython -c 'import local_one; print(local_one.V)'\n"),
    "py": (
        "train.py",
        "import subprocess, local_one\nsubprocess.run(['tiny'], check=True)\nprint(local_one.V)\n",
    ),
}


@pytest.mark.parametrize(("script", "text"), _PACKAGED.values(), ids=_PACKAGED)
async def test_packages_of_a_folder_are_installed_as_at_home(
    own_door: Door, tmp_path: Path, script: str, text: str
) -> None:
    folder = tmp_path / unique("packaged")
    project(folder / "local", "local_one", "V = 7\n")
    wheel(folder, "tiny", "def main():\n    print('tiny here')\n")
    (folder / "base.txt").write_text("--no-index\n--find-links .\ntiny\n")
    (folder / "requirements.txt").write_text("-r base.txt\n./local\n")
    (folder / script).write_text(text)

    code, out, err = await slipway(own_door, tmp_path, "run", "--to", "out", folder.name)

    assert code == 0, err
    assert out.endswith("tiny here\n7\n")
    prepared = (tmp_path / "out/stdouterr/stdout-job_prep.txt").read_text()
    assert "The packages of requirements.txt were installed: " in prepared


async def test_packages_are_installed_once_for_jobs_of_the_same_lists(own_door: Door, tmp_path: Path) -> None:
    prepared = []
    for name in ("first", "second"):
        (folder := tmp_path / name).mkdir()
        (folder / "requirements.txt").write_text(f"# {tmp_path}\n")
        (folder / "train.sh").write_text("command -v python\n")
        code, _, err = await slipway(own_door, tmp_path, "run", "--to", f"{name}-out", name)
        assert code == 0, err
        prepared.append((tmp_path / f"{name}-out/stdouterr/stdout-job_prep.txt").read_text())

    assert ["and are kept: " in prepared[0], "were kept: " in prepared[1]] == [True, True], prepared
