"""Names of a directory page by page, and what they cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from confined.names import Names
from tests.doubles.scans import count_scans

#: Nanoseconds; long after the directories of these tests were changed.
LATER = 1 << 62


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    for number in range(100):
        (tmp_path / f"{number:03}").touch()
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield tmp_path, fd
    os.close(fd)


def every(names: Names, fd: int, count: int) -> list[list[str]]:
    pages, after, follows = [], "", True
    while follows:
        page, follows, more = names.page(fd, after, count)
        assert not more
        pages.append(page)
        after = page[-1]
    return pages


@pytest.mark.parametrize(("window", "scans"), [(100, 1), (99, 2), (25, 4), (30, 4)])
def test_every_name_comes_once_and_a_window_is_one_scan(
    folder: tuple[Path, int], monkeypatch: pytest.MonkeyPatch, window: int, scans: int
) -> None:
    scanned = count_scans(monkeypatch)

    pages = every(Names(lambda: LATER, window), folder[1], 5)

    assert [name for page in pages for name in page] == [f"{number:03}" for number in range(100)]
    assert len(scanned) == scans


def test_a_directory_that_changes_is_read_again(
    folder: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = folder
    scanned, names = count_scans(monkeypatch), Names(lambda: LATER)
    names.page(fd, "", 5)
    (path / "0045").touch()
    os.utime(path, (9, 9))

    assert names.page(fd, "004", 2).names == ["0045", "005"]
    assert names.page(fd, "005", 1).names == ["006"]
    assert len(scanned) == 2


def test_one_that_changed_a_moment_ago_may_change_unseen_and_is_not_kept(
    folder: tuple[Path, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = folder
    now = path.stat().st_mtime_ns
    scanned, names = count_scans(monkeypatch), Names(lambda: now + 1_000_000)

    names.page(fd, "", 5)
    names.page(fd, "004", 5)

    assert len(scanned) == 2


def test_what_is_kept_is_bounded_and_a_small_directory_is_not(
    folder: tuple[Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, fd = folder
    other = path / "999"
    other.mkdir()
    for number in range(60):
        (other / str(number)).touch()
    second = os.open(other, os.O_RDONLY | os.O_DIRECTORY)
    scanned, names = count_scans(monkeypatch), Names(lambda: LATER, names=120)

    assert not names.page(second, "", 60).follows  # whole, so not kept
    names.page(second, "", 5)
    names.page(fd, "", 5)
    names.page(second, "1", 5)
    os.close(second)

    assert len(scanned) == 4


def test_names_beyond_the_bound_are_in_no_page_and_said(folder: tuple[Path, int]) -> None:
    first, _, more = Names(most=99).page(folder[1], "", 100)
    assert (len(first), more) == (99, True)

    assert not Names(most=100).page(folder[1], "", 100).more
