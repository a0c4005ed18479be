"""What the tar of this system packs is read alike by all."""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.doubles.raw_archives import END, ORDINARY, PIECES
from tests.doubles.readings import files_below, on_node, read_by_others, shown


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

    files = on_node(archive)
    assert files == shown(archive) == read_by_others(archive)
    assert files is not None
    assert files["run.sh"] == ("", b"echo ran\n", True)
    assert files["latest"][0] == "data/rows.csv"
    assert len(files) == (5 if form in ("gnu", "posix") else 4)


_ARCHIVES = ORDINARY | {
    f"{first} and {second}": PIECES[first] + PIECES[second] + END
    for first, second in product(range(len(PIECES)), repeat=2)
}


@pytest.mark.parametrize("name", _ARCHIVES)
def test_gnu_tar_makes_what_is_shown_of_an_archive(name: str, tmp_path: Path) -> None:
    """As it does on Batch AI, in images without python3."""
    files = shown(_ARCHIVES[name])
    (tmp_path / "top").mkdir()
    (tmp_path / "archive").write_bytes(_ARCHIVES[name])

    command = ["tar", "-xmof", str(tmp_path / "archive"), "-C", str(tmp_path / "top")]
    code = subprocess.run(command, check=False, capture_output=True).returncode

    if files is None:
        assert name not in ORDINARY
    else:
        assert (code, files_below(tmp_path / "top")) == (0, files)
