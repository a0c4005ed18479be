"""What differs between the code of a job and a folder."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from slipway.client.snapshot.difference import Difference, difference
from slipway.client.snapshot.pack import pack
from slipway.client.snapshot.walk import walk
from slipway.failure import Failure
from tests.doubles.archives import file as member
from tests.doubles.archives import packed
from tests.unit.slipway.client.snapshot.test_walk import put


def test_names_and_lines_that_differ_are_found(tmp_path: Path) -> None:
    put(tmp_path, "same.py", "old.py", "run.sh", text="1\n")
    put(tmp_path, "train.py", text="lr = 1\nrun()\n")
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    (tmp_path / "large.txt").write_text("1" * 300_000)
    (tmp_path / "link").symlink_to("same.py")
    (tmp_path / "empty").mkdir()
    out = io.BytesIO()
    pack(walk(tmp_path), out)

    (tmp_path / "old.py").unlink()
    (tmp_path / "empty").rmdir()
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "data.bin").write_bytes(b"\0\2")
    (tmp_path / "large.txt").write_text("2" * 300_000)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("train.py")
    put(tmp_path, "new.py")
    put(tmp_path, "train.py", text="lr = 2\nrun()\n")
    out.seek(0)

    result = difference(out, walk(tmp_path))

    assert result.changed == ["data.bin", "large.txt", "link", "run.sh", "train.py"]
    assert (result.added, result.removed) == (["new.py"], ["empty/", "old.py"])
    assert [*result.lines] == ["run.sh", "train.py"]
    assert result.lines["run.sh"] == ["not executable in the job, executable in the folder"]
    assert result.lines["train.py"][-3:] == ["-lr = 1", "+lr = 2", " run()"]


def test_the_folder_that_was_sent_does_not_differ(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "b/c.csv", ".env")
    out = io.BytesIO()
    pack(walk(tmp_path), out)
    out.seek(0)

    assert difference(out, walk(tmp_path)) == Difference()


def test_of_an_archive_from_storage_neither_modes_nor_empty_folders_differ(tmp_path: Path) -> None:
    put(tmp_path, "train.py", text="1")
    (tmp_path / "empty").mkdir()
    archive = io.BytesIO(packed(member("train.py", "1", executable=True)))

    assert difference(archive, walk(tmp_path), from_storage=True) == Difference()
    archive.seek(0)
    assert difference(archive, walk(tmp_path)).changed == ["train.py"]


def test_an_archive_that_tar_made_of_the_folder_does_not_differ(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "b/c.csv")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("a.py")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        tar.add(tmp_path, ".")
    out.seek(0)

    assert difference(out, walk(tmp_path)) == Difference()


def test_what_is_not_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="the code cannot be read: it is not a tar archive"):
        difference(io.BytesIO(b"x" * 1024), walk(tmp_path))
