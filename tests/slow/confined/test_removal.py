"""Directories of jobs are removed with all that is in them; on nodes, by a function of their program."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from confined.removal import remove
from shared.engines.node import files
from tests.deep import make_deep

FUNCTIONS = pytest.mark.parametrize("removed", [remove, files.remove], ids=["local", "nodes"])
Removal = Callable[[str], object]


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@FUNCTIONS
@pytest.mark.usefixtures("few_descriptors")
def test_a_deep_directory_is_removed(tmp_path: Path, removed: Removal) -> None:
    (top := tmp_path / "top").mkdir()
    make_deep(top, "d" * 40, 1_500, file="f")

    removed(str(top))

    assert list(tmp_path.iterdir()) == []


@FUNCTIONS
def test_a_read_only_directory_is_removed(folder: Path, removed: Removal) -> None:
    (below := folder / "top" / "below").mkdir(parents=True)
    (below / "file").touch()
    below.chmod(0o500)

    removed(str(folder / "top"))

    assert list(folder.iterdir()) == []


@FUNCTIONS
def test_links_are_removed_and_not_followed(tmp_path: Path, removed: Removal) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")

    removed(str(tmp_path / "top"))
    removed(str(tmp_path / "link"))

    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["kept", "kept/file"]


@FUNCTIONS
def test_only_modes_of_its_own_directories_change(folder: Path, removed: Removal) -> None:
    (other := folder / "other").touch(0o444)
    (below := folder / "top" / "below").mkdir(parents=True)
    os.link(other, below / "hard")
    below.chmod(0o500)

    removed(str(folder / "top"))

    assert [(path.name, path.stat().st_mode & 0o777) for path in folder.iterdir()] == [("other", 0o444)]


@FUNCTIONS
def test_a_pipe_in_its_place_is_not_opened(tmp_path: Path, removed: Removal) -> None:
    os.mkfifo(tmp_path / "top")

    removed(str(tmp_path / "top"))

    assert list(tmp_path.iterdir()) == []


@FUNCTIONS
def test_a_directory_that_is_not_there_is_no_error(tmp_path: Path, removed: Removal) -> None:
    removed(str(tmp_path / "none"))


def test_what_stays_is_an_error_for_the_nodes(folder: Path) -> None:
    (folder / "top").mkdir()
    folder.chmod(0o500)

    with pytest.raises(OSError, match="Permission denied"):
        files.remove(str(folder / "top"))
    assert not remove(folder / "top")

    folder.chmod(0o700)
    assert [path.name for path in folder.iterdir()] == ["top"]
