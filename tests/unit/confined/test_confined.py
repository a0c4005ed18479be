"""Files opened below a directory: no path, no link and no moment leads out of it."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

import confined
from confined import Confined
from confined.names import Names
from confined.way import Refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    result = tmp_path / "root"
    (result / "a/b").mkdir(parents=True)
    (result / "a/b/f").write_text("inside")
    (tmp_path / "f").write_text("outside")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/f").write_text("outside")
    return result


def opened() -> int:
    """How many descriptors this process has."""
    return len(list(Path("/dev/fd").iterdir()))


def read(root: Path, path: str, name: str = "", *, links: bool = True) -> str:
    with Confined.from_root(root, name) as held, held.file(path, links=links) as file:
        return file.read().decode()


@pytest.mark.parametrize("path", ["a/b/f", "./a//b/./f", "a/../a/b/f", "a/b/../b/f", "/a/b/f"])
def test_a_path_below_is_opened(root: Path, path: str) -> None:
    assert read(root, path) == "inside"


@pytest.mark.parametrize(
    "path", ["..", "../f", "a/../../f", "a/b/../../../b/f", "a\0b", "\ud800", "../root/a/b/f"]
)
def test_a_path_that_leads_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(Refused):
        read(root, path)


@pytest.mark.parametrize(
    "target", ["a/b/f", "./a/b/f", "a/b/../b/f", "chain/f", "/known/a/b/f", "/known//a/./b/f", "up/b/f"]
)
def test_a_link_that_stays_below_is_followed(root: Path, target: str) -> None:
    (root / "chain").symlink_to("a/b")
    (root / "a/b/up").symlink_to("..")
    (root / "up").symlink_to("a/b/up")
    (root / "link").symlink_to(target)

    assert read(root, "link", "/known") == "inside"
    with pytest.raises(Refused, match="link"):
        read(root, "link", "/known", links=False)


@pytest.mark.parametrize(
    "target",
    [
        "..", "../f", "a/../../f", "a/b/../../../f", "/etc/passwd", "/proc/self/environ", "/",
        "/known2/a/b/f", "/known/../f", "self", "/proc/self/root/etc/passwd", "/known/self", "//known/a/b/f",
    ],
)  # fmt: skip
def test_a_link_that_leads_out_is_refused(root: Path, target: str) -> None:
    (root / "self").symlink_to(target)

    for path in ("self", "self/", "self/f", "self/../a/b/f"):
        with pytest.raises(Refused):
            read(root, path, "/known")


def test_a_link_back_to_the_root_does_not_begin_above_it(root: Path) -> None:
    (root / "a/top").symlink_to("/known")
    (root / "a/above").symlink_to("/known/..")

    assert read(root, "a/top/a/b/f", "/known") == "inside"
    with pytest.raises(Refused):
        read(root, "a/above/f", "/known")


def test_links_are_followed_as_the_system_does(root: Path) -> None:
    (root / "a/other").symlink_to("../x/y")
    (root / "x/y").mkdir(parents=True)
    (root / "x/f").write_text("of x")

    assert read(root, "a/other/../f") == (root / "a/other/../f").read_text() == "of x"


def test_a_chain_of_links_has_an_end(root: Path) -> None:
    (root / "l0").symlink_to("a/b/f")
    for number in range(1, 60):
        (root / f"l{number}").symlink_to(f"l{number - 1}")

    assert read(root, "l39") == "inside"
    with pytest.raises(Refused, match="too many links"):
        read(root, "l40")


def test_links_that_would_take_for_ever_are_given_up(root: Path) -> None:
    long = "/".join(["a", ".."] * 800)
    for number in range(40):
        (root / f"l{number}").symlink_to(f"{long}/l{number + 1}")

    with pytest.raises(Refused, match="too long"):
        read(root, "l0")


@pytest.mark.parametrize(
    "name", ["-rf", " ", "a\nb", "\x1b[2J", "\udcff", "é" * 120, "*", "~", "$HOME", "..."]
)
def test_hard_names_are_names(root: Path, name: str) -> None:
    (root / name).write_text("hard")
    (root / "link").symlink_to(name)

    assert read(root, name) == read(root, "link") == "hard"
    with Confined.from_root(root) as held:
        assert name in {entry.name for entry in held.entries()}


@pytest.mark.parametrize("kind", ["pipe", "socket", "device", "link to a device"])
def test_special_files_are_refused_and_listed_as_what_they_are(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    if kind == "pipe":
        os.mkfifo("special")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as created:
            created.bind("special")
    elif kind == "device":
        try:
            os.mknod("special", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    else:
        (root / "special").symlink_to("/dev/zero")

    with pytest.raises(Refused):
        read(root, "special")
    with Confined.from_root(root) as held:
        (special,) = [entry for entry in held.entries() if entry.name != "a"]
    assert special.kind == ("link" if kind.startswith("link") else kind)


def test_a_directory_is_no_file_and_a_file_no_directory(root: Path) -> None:
    for path in ("a", ".", "a/b/"):
        with pytest.raises(IsADirectoryError):
            read(root, path)
    for path in ("a/b/f/", "a/b/f/.", "a/b/f/g", "a/b/f/.."):
        with pytest.raises(NotADirectoryError):
            read(root, path)
    with Confined.from_root(root) as held, pytest.raises(NotADirectoryError):
        held.directory("a/b/f")
    with pytest.raises(FileNotFoundError):
        read(root, "a/none/f")


@pytest.mark.parametrize("swapped", ["a", "a/b", "a/b/f"])
def test_what_is_swapped_between_look_and_open_is_not_followed(
    root: Path, swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open
    done: list[str] = []

    def late(path: str, flags: int, *more: int, dir_fd: int | None = None) -> int:
        if path == Path(swapped).name and not done:
            done.append(path)
            (root / swapped).rename(root / "moved")
            (root / swapped).symlink_to(root.parent / path if path != "a" else root.parent)
        return real(path, flags, *more, dir_fd=dir_fd)

    with Confined.from_root(root) as held:
        monkeypatch.setattr(os, "open", late)
        with pytest.raises(OSError, match=r"link|Not a directory"):
            held.file("a/b/f")
    assert done


def test_a_directory_that_is_moved_while_it_is_held_is_still_the_same(root: Path) -> None:
    with Confined.from_root(root) as held, held.directory("a") as inner:
        (root / "a").rename(root / "moved")
        (root / "a").symlink_to(root.parent)

        with inner.file("b/f") as file:
            assert file.read() == b"inside"


def test_a_directory_below_is_a_root_of_its_own(root: Path) -> None:
    (root / "a/out").symlink_to("../a/b")
    (root / "a/in").symlink_to("b")
    with Confined.from_root(root) as held, held.directory("a") as inner:
        assert [(entry.name, entry.kind) for entry in inner.entries()] == [
            ("b", "directory"),
            ("in", "directory"),
            ("out", "link"),
        ]
        with pytest.raises(Refused):
            inner.directory("../a")


def test_a_file_can_be_changed_but_not_through_a_link_that_leads_out(root: Path) -> None:
    (root / "out").symlink_to("../f")
    with Confined.from_root(root) as held:
        with held.file("a/b/f", write=True) as file:
            file.write(b"INS")
        with pytest.raises(Refused):
            held.file("out", write=True)
    assert (root / "a/b/f").read_text() == "INSide"
    assert (root.parent / "f").read_text() == "outside"


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to("/etc/passwd")
    before = opened()
    with Confined.from_root(root) as held:
        held.entries()
        for path in ("loop", "out", "a", "a/b/f/x", "none", "../x"):
            with pytest.raises(OSError, match=r"\w"):
                held.file(path)
            with pytest.raises(OSError, match=r"\w"):
                held.parent(f"{path}/none/..")
    assert opened() == before


def test_links_in_a_directory_are_looked_at_as_long_as_it_takes_no_more_than_a_moment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_LISTED", 600)
    for number in range(300):
        (root / f"l{number:03}").symlink_to("a/b/f")

    with Confined.from_root(root) as held:
        kinds = [entry.kind for entry in held.entries() if entry.name != "a"]
        # Those that are left are as good as before, one at a time.
        assert read(root, "l299") == "inside"

    assert sorted(kinds) == ["file"] * 150 + ["link"] * 150


@pytest.mark.parametrize("target", ["./" * 2000 + "l", "/known" + "/" * 2000 + "l", "a/../" * 700 + "l"])
def test_a_component_that_leads_nowhere_counts_as_well(root: Path, target: str) -> None:
    (root / "l").symlink_to(target)

    with pytest.raises(Refused, match="too long"):
        read(root, "l", "/known")


def test_a_directory_with_too_many_entries_is_not_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "_ENTRIES", 3)
    for name in "bc":
        (root / name).touch()
    with Confined.from_root(root) as held:
        assert len(held.entries()) == 3
        (root / "d").touch()
        with pytest.raises(Refused, match="more than 3 entries"):
            held.entries()
        part = held.listing(".", Names(), "a", 1)
    assert ([entry.name for entry in part.entries], part.next, part.more) == (["b"], "b", False)
