"""The saved directory on a node: what of it is saved, and how a new one is filled."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from shared.engines.node.saved.folder import Status, fill, open_below, saved_listing
from shared.engines.node.saved.generations import FILE, FOLDER, LINK, MOST_ENTRIES, Entry


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "saved"
    path.mkdir()
    return path


def entry(content: bytes, mode: int = 0o644) -> Entry:
    return Entry(
        FILE, len(content), 1_700_000_000_123_456_789, mode, hashlib.sha256(content).hexdigest(), "p"
    )


def written(file: int, content: bytes) -> None:
    os.pwrite(file, content, 0)


def test_files_folders_and_links_within_are_saved(saved: Path) -> None:
    (saved / "step-3/empty").mkdir(parents=True)
    (saved / "step-3/w.bin").write_bytes(b"abc")
    (saved / "last").symlink_to("step-3/w.bin")
    (saved / "step-3/absolute").symlink_to(saved / "last")
    (saved / "itself").symlink_to(saved)

    entries, left_out, closed = saved_listing(str(saved))

    assert (left_out, closed) == ({}, set())
    assert {path: (one.kind, one.size, one.text) for path, one in entries.items()} == {
        "step-3": (FOLDER, 0, ""),
        "step-3/empty": (FOLDER, 0, ""),
        "step-3/w.bin": (FILE, 3, ""),
        "last": (LINK, 0, "step-3/w.bin"),
        "step-3/absolute": (LINK, 0, "../last"),
        "itself": (LINK, 0, "."),
    }


def test_what_is_not_saved_is_named_with_the_reason(saved: Path) -> None:
    os.mkfifo(saved / "pipe")
    (saved / "out").symlink_to("/etc/passwd")
    (saved / "up").symlink_to("../x")
    deep = saved
    for _ in range(6):
        deep /= "d" * 200
        deep.mkdir()

    entries, left_out, _ = saved_listing(str(saved))

    assert sorted(left_out.values()) == [
        "a path has at most 1024 bytes",
        "only files, folders and links are saved",
        "only links straight to something in the directory are saved",
        "only links straight to something in the directory are saved",
    ]
    assert len(entries) == 5


@pytest.mark.long
def test_a_listing_ends_where_a_generation_would_be_too_large(saved: Path) -> None:
    for number in range(MOST_ENTRIES + 5):
        (saved / str(number)).symlink_to("x")

    assert len(saved_listing(str(saved)).entries) == MOST_ENTRIES + 1


def test_a_folder_that_may_be_listed_and_not_entered_is_named_and_the_rest_is_saved(saved: Path) -> None:
    (saved / "closed").mkdir()
    (saved / "closed/file").touch()
    (saved / "w").touch()
    original = os.stat

    def refused(name: Any, **rest: Any) -> os.stat_result:
        if name == "file":
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(name, **rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "stat", refused)
        entries, left_out, closed = saved_listing(str(saved))

    assert (sorted(entries), closed) == (["closed", "w"], {"closed"})
    assert left_out == {"'closed'": "it cannot be read: Permission denied"}


def test_a_directory_that_may_be_listed_and_not_entered_is_not_taken_for_an_empty_one(saved: Path) -> None:
    (saved / "w").touch()

    def refused(*args: Any, **rest: Any) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "stat", refused)
        with pytest.raises(PermissionError):
            saved_listing(str(saved))


def test_a_path_has_a_bound_in_bytes(saved: Path) -> None:
    folder = saved.joinpath(*["\U0001f600" * 60] * 4)
    folder.mkdir(parents=True)
    (folder / ("\U0001f600" * 16)).touch()
    (folder / ("\U0001f600" * 15)).touch()

    assert len(saved_listing(str(saved)).left_out) == 1


def test_a_changed_file_has_another_status(saved: Path) -> None:
    (saved / "w").write_bytes(b"abc")
    before = saved_listing(str(saved)).entries["w"]
    os.utime(saved / "w", ns=(1, 1))
    changed = saved_listing(str(saved)).entries["w"]
    (saved / "new").write_bytes(b"abc")
    os.utime(saved / "new", ns=(1, 1))
    (saved / "new").replace(saved / "w")

    assert len({before, changed, saved_listing(str(saved)).entries["w"]}) == 3
    assert isinstance(before, Status)


def test_nothing_is_opened_through_a_link(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (saved / "folder").symlink_to(tmp_path)
    (saved / "file").symlink_to(tmp_path / "secret")

    for path in ("folder/secret", "file"):
        with pytest.raises(OSError, match=r"symbolic|directory"):
            open_below(str(saved), path)


def test_a_directory_is_filled_as_it_was(saved: Path) -> None:
    contents = {"step-3/w.bin": b"abc", "run.sh": b"#!"}
    entries = {
        "step-3/w.bin": entry(b"abc"),
        "run.sh": entry(b"#!", 0o755),
        "empty": Entry(FOLDER),
        "last": Entry(LINK, text="step-3/w.bin"),
    }
    by_digest = {hashlib.sha256(content).hexdigest(): content for content in contents.values()}

    fill(str(saved), entries, lambda one, file: written(file, by_digest[one.text]))

    assert {path: (saved / path).read_bytes() for path in contents} == contents
    assert (saved / "last").readlink() == Path("step-3/w.bin")
    assert saved.stat().st_mode & 0o777 == 0o700
    statuses = saved_listing(str(saved)).entries
    assert sorted(statuses) == ["empty", "last", "run.sh", "step-3", "step-3/w.bin"]
    assert statuses["run.sh"].mode == 0o755
    assert statuses["run.sh"].modified == 1_700_000_000_123_456_789


def test_of_two_nodes_of_one_machine_the_first_fills_the_directory(saved: Path) -> None:
    (saved / "w").write_bytes(b"first")

    fill(str(saved), {"w": entry(b"next")}, lambda one, file: written(file, b"next"))

    assert (saved / "w").read_bytes() == b"first"
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


def test_a_directory_that_cannot_be_filled_stays_empty(saved: Path) -> None:
    with pytest.raises(OSError, match="away"):
        fill(str(saved), {"v": entry(b""), "w": entry(b"abc")}, lambda one, file: fails(one))

    assert list(saved.iterdir()) == []
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


def fails(one: Entry) -> None:
    if one.size:
        raise OSError("the storage is away")


def test_a_file_with_other_bytes_is_refused(saved: Path) -> None:
    with pytest.raises(OSError, match="'w' has other bytes than were saved"):
        fill(str(saved), {"w": entry(b"abc")}, lambda one, file: written(file, b"abd"))


def test_a_time_that_no_file_can_have_is_left_out(saved: Path) -> None:
    fill(str(saved), {"w": entry(b"")._replace(modified=1 << 80)}, lambda one, file: None)

    assert (saved / "w").is_file()
