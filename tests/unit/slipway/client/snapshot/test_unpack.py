"""An archive in a directory of this machine: what is in it stays in the directory."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from shared.snapshots.grammar import Unreadable
from shared.snapshots.pack import ENTRIES
from slipway.client.snapshot.difference import difference
from slipway.client.snapshot.members import as_on_node
from slipway.client.snapshot.pack import pack
from slipway.client.snapshot.unpack import LIMIT, unpack
from slipway.client.snapshot.walk import Tree, walk
from slipway.failure import Failure
from tests.unit.slipway.client.snapshot.test_walk import put


def archive(*members: tuple[str, str]) -> io.BytesIO:
    """A tar of these names; each is a file with that text, or a link if the text begins with an arrow."""
    out = io.BytesIO()
    with tarfile.TarFile(fileobj=out, mode="w") as tar:
        for name, text in members:
            member = tarfile.TarInfo(name)
            if text.startswith("->"):
                member.type, member.linkname = tarfile.SYMTYPE, text.removeprefix("->")
                tar.addfile(member)
            else:
                member.size = len(text)
                tar.addfile(member, io.BytesIO(text.encode()))
    out.seek(0)
    return out


def test_a_folder_comes_back_as_it_was_sent(tmp_path: Path) -> None:
    folder, to, out = tmp_path / "folder", tmp_path / "to/new", io.BytesIO()
    put(folder, "train.py", "data/a.csv", "run.sh", ".config/x")
    (folder / "run.sh").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("data/a.csv")
    (folder / "data/up").symlink_to("..")
    first = pack(walk(folder), out)
    out.seek(0)

    assert unpack(out, to) == (6, {})

    assert pack(walk(to), io.BytesIO()) == first
    assert os.access(to / "run.sh", os.X_OK)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("../up.py", "1"),
        ("/etc/absolute.py", "1"),
        ("a/../../up.py", "1"),
        ("x" * 300, "1"),
        ("link", "->../outside"),
        ("link", "->/etc/passwd"),
        ("link", "->a/../../outside"),
        ("a/link", "->../../outside"),
    ],
)
def test_what_leads_out_of_the_directory_is_left_out(tmp_path: Path, name: str, text: str) -> None:
    to = tmp_path / "deep/to"

    unpacked = unpack(archive((name, text), ("train.py", "1")), to)

    assert (unpacked.files, set(unpacked.skipped)) == (1, {name})
    assert [path.name for path in tmp_path.rglob("*") if not path.is_dir()] == ["train.py"]


def test_files_have_the_names_that_they_have_on_a_node(tmp_path: Path) -> None:
    members = (("./a", "1"), ("b//c/./d", "2"), ("e/new\nline.txt", "3"), ("back\\slash", "4"))

    assert unpack(archive(*members, ("./link", "->b/c")), tmp_path) == (5, {})

    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {"a", "b/c/d", "e/new\nline.txt", "back\\slash"}
    assert (tmp_path / "link/d").read_text() == "2"


@pytest.mark.parametrize("name", ["n{}", "n{}/same", "./{}", "a/b/c/d/e/f/g/h/{}", "a/" * 5000 + "{}"])
def test_more_members_than_a_node_makes_are_refused(name: str) -> None:
    members = archive(*((name.format(number), "1") for number in range(9)))

    with pytest.raises(Unreadable, match=r"more than 8 files and folders|a name in it is too long"):
        list(as_on_node(members, LIMIT, 8))


@pytest.mark.long
def test_neither_writing_nor_comparing_goes_beyond_what_a_node_makes(tmp_path: Path) -> None:
    members = archive(*((f"n{number}", "->n") for number in range(ENTRIES + 1)))

    with pytest.raises(Failure, match="cannot be unpacked: it has more than 20,000 files and folders"):
        unpack(members, tmp_path)
    members.seek(0)
    with pytest.raises(Failure, match="cannot be read: it has more than 20,000 files and folders"):
        difference(members, Tree(tmp_path))


def test_no_link_is_made_and_no_file_written_through_another_link(tmp_path: Path) -> None:
    hostile = archive(("here", "->."), ("here/out", "->../x"), ("p/q", "->.."), ("p/q/out", "->../../x"))

    unpacked = unpack(hostile, tmp_path / "to")

    assert unpacked.skipped == {"here/out": "it is below another link", "p/q/out": "it is below another link"}
    assert not (tmp_path / "x").exists()


def test_what_is_not_utf_8_is_left_out_by_name_and_takes_no_place(tmp_path: Path) -> None:
    hostile = archive(("caf\udce9", "1"), ("caf\udcea", "2"), ("caf\ufffd", "3"), ("link", "->caf\udce9"))

    unpacked = unpack(hostile, tmp_path / "to")

    assert unpacked.skipped == {
        "caf\udce9": "its name is not UTF-8",
        "caf\udcea": "its name is not UTF-8",  # noqa: F601 - ruff takes them for one
        "link": "what it leads to is not UTF-8",
    }
    assert (tmp_path / "to" / "caf\ufffd").read_text() == "3"


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "mine.py")

    with pytest.raises(Failure, match="is not empty"):
        unpack(archive(("train.py", "1")), tmp_path)


@pytest.mark.parametrize(
    ("members", "skipped", "written"),
    [
        ([("a", "1"), ("a/b", "2"), ("c", "3")], {"a/b": "this disk takes it for a"}, ["a", "c"]),
        ([("a/b", "2"), ("a", "1"), ("c", "3")], {"a": "something else has its name"}, ["a", "c"]),
    ],
)
def test_of_two_members_that_are_one_to_the_disk_the_second_is_left_out_and_the_rest_is_written(
    tmp_path: Path, members: list[tuple[str, str]], skipped: dict[str, str], written: list[str]
) -> None:
    """As `A.py` and `a.py` are on Windows and macOS."""
    to = tmp_path / "to"

    assert unpack(archive(*members), to) == (len(members) - 1, skipped)

    assert sorted(path.name for path in to.iterdir()) == written
    assert (to / "c").read_text() == "3"


def test_more_bytes_than_the_limit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="unpacks to more bytes"):
        unpack(archive(("a", "1" * 100_000)), tmp_path / "to", limit=1000)
