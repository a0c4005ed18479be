"""What the tar of this system packs is read alike by all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.doubles.readings import read_by_others, shown, unpacked


@pytest.mark.parametrize("form", ["gnu", "posix", "ustar", "v7"])
def test_a_folder_packed_by_tar_arrives(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "data").mkdir(parents=True)
    (folder / "data/rows.csv").write_text("1,2\n")
    (folder / "run.sh").write_text("echo ran\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "latest").symlink_to("data/rows.csv")
    if form in ("gnu", "posix"):
        (folder / ("größe" * 30)).write_text("long")
    program = shutil.which("tar")
    assert program is not None

    archive = subprocess.check_output([program, f"--format={form}", "-C", str(folder), "-cz", "."])

    files = unpacked(archive)
    assert files == shown(archive) == read_by_others(archive)
    assert files is not None
    assert files["run.sh"] == ("", b"echo ran\n", True)
    assert files["latest"][0] == "data/rows.csv"
    assert len(files) == (5 if form in ("gnu", "posix") else 4)
