"""Archives of code at a node: what a packer makes arrives as it was, what an attacker makes does not."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from shared.engines.node.unpack import Hostile, put, unpack
from tests.doubles.archives import FOLDER, Entry, file, folder, link, packed, tar

_LONG, _ENTRIES = "d" * 100, 100


def _unpacked(archive: bytes, tmp_path: Path, most: int = 1 << 20) -> Path:
    top = tmp_path / "top"
    top.mkdir()
    unpack(io.BytesIO(archive), top, most, _ENTRIES)
    return top


@pytest.mark.parametrize("archive", [packed(*FOLDER), tar(FOLDER)], ids=["compressed", "plain"])
def test_a_folder_arrives_as_it_was(archive: bytes, tmp_path: Path) -> None:
    top = _unpacked(archive, tmp_path)

    assert (top / "features.py").read_text() == "VALUE = 1\n"
    assert (top / "latest.csv").is_symlink()
    assert (top / "latest.csv").read_text() == "1,2\n"
    assert list((top / "empty").iterdir()) == []
    assert (top / ".hidden").read_text() == "dot\n"
    assert stat.S_IMODE((top / "run.sh").stat().st_mode) & 0o700 == 0o700
    assert not stat.S_IMODE((top / "train.py").stat().st_mode) & 0o111
    assert (top / "train.py").stat().st_mtime > 1e9, "wheels refuse times before 1980"


@pytest.mark.parametrize("name", ["größe/数据.csv", "a b/$(id)", f"{_LONG}/{_LONG}/{_LONG}.py", "-rf"])
def test_names_are_data(name: str, tmp_path: Path) -> None:
    top = _unpacked(packed(file(name, "it")), tmp_path)

    assert (top / name).read_text() == "it"


def test_a_link_may_lead_to_what_comes_later_and_up_within_the_folder(tmp_path: Path) -> None:
    top = _unpacked(packed(link("a/up", "../b"), file("b", "it")), tmp_path)

    assert (top / "a/up").read_text() == "it"


#: What is read alike by all, and made by no node.
HOSTILE: dict[str, tuple[Entry, ...]] = {
    "absolute": (file("/etc/evil"),),
    "above": (file("../evil"),),
    "above from within": (file("a/../../evil"),),
    "too long a name": (file("n" * 256),),
    "too long a path": (file("/".join([_LONG] * 60)),),
    "below a file": (file("a"), file("a/b")),
    "link to an absolute path": (link("a", "/etc/passwd"),),
    "link to what is above": (link("a", "../outside"),),
    "link to what is above from within": (link("a/b", "../../outside"),),
    "a file through a link": (link("a", "b"), folder("b"), file("a/evil")),
    "outside by way of another link": (folder("a/b"), link("a/b/up", "../.."), link("out", "a/b/up/..")),
    "larger than allowed": (file("zeros", bytes(2 << 20)),),
    "larger than allowed together": tuple(file(f"{number}", bytes(600_000)) for number in range(2)),
    "too many entries": tuple(folder(f"{number}") for number in range(_ENTRIES + 1)),
}


def test_no_hostile_archive_is_unpacked_and_nothing_of_it_is_outside(tmp_path: Path) -> None:
    for case, entries in HOSTILE.items():
        place = tmp_path / case / "place"
        place.mkdir(parents=True)

        with pytest.raises(Hostile) as refusal:
            _unpacked(packed(*entries), place)

        assert [path.name for path in (*place.parent.iterdir(), *place.iterdir())] == ["place", "top"], case
        assert str(refusal.value).isascii(), "a name is shown as text"


def test_what_it_takes_to_refuse_a_bomb_does_not_depend_on_its_size(tmp_path: Path) -> None:
    bomb = packed(Entry("a", b"", size=1 << 50))

    with pytest.raises(Hostile, match="too large"):
        _unpacked(bomb, tmp_path)

    assert list((tmp_path / "top").iterdir()) == []


def test_the_code_joins_the_folders_of_a_run_but_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "wd/out/logs").mkdir(parents=True)
    top = _unpacked(packed(file("out/mine", "it"), file("train.py")), tmp_path)

    put(top, tmp_path / "wd")

    assert (tmp_path / "wd/out/mine").read_text() == "it"
    assert (tmp_path / "wd/out/logs").is_dir()


def test_what_a_run_that_was_cut_off_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "wd/data").mkdir(parents=True)
    (tmp_path / "wd/data/rows.csv").write_text("ha")
    (tmp_path / "wd/latest.csv").symlink_to("data/rows.csv")
    top = _unpacked(packed(*FOLDER), tmp_path)

    put(top, tmp_path / "wd")

    assert (tmp_path / "wd/latest.csv").is_symlink()
    assert (tmp_path / "wd/latest.csv").read_text() == "1,2\n"
    assert (tmp_path / "wd/run.sh").exists()


@pytest.mark.parametrize("other", ["file", "link"])
def test_what_is_there_already_in_place_of_a_folder_is_never_replaced(other: str, tmp_path: Path) -> None:
    (tmp_path / "wd").mkdir()
    if other == "file":
        (tmp_path / "wd/a").write_text("before")
    else:
        (tmp_path / "wd/a").symlink_to(tmp_path)
    top = _unpacked(packed(file("a/b")), tmp_path)

    with pytest.raises(Hostile, match="there already"):
        put(top, tmp_path / "wd")

    assert not (tmp_path / "b").exists()
