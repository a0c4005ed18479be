"""What of a folder goes along by each road, and the reason that a person reads for the rest."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.snapshots.pack import Packed
from slipway.client.drops.folder import to_upload
from slipway.client.snapshot.walk import walk
from slipway.client.snapshot.words import words
from slipway.commands.data.put import to_put
from slipway.terminal.screen import say


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def _file(path: Path, text: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _link(target: str) -> Callable[[Path], None]:
    """Makes a link; in the target, `..` is the folder above the sent one."""
    return lambda path: path.symlink_to(target.replace("..", str(path.parents[1])))


def _link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("p"))
    path.symlink_to("p")


def _ignored(path: Path) -> None:
    _file(path)
    _file(path.with_name(".slipwayignore"), "*.csv\n")


#: What is in a folder beside its script: how it comes there.
KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "nowhere": _link("missing"),
    "circle": _link("circle"),
    "to-pipe": _link_to_pipe,
    "to-device": _link(os.devnull),
    "to-file": _link("train.py"),
    "to-file-by-its-whole-path": _link("../f/train.py"),
    "to-file-elsewhere": _link("../elsewhere/a.csv"),
    "to-folder-elsewhere": _link("../elsewhere"),
    "empty": Path.mkdir,
    ".hidden": _file,
    ".tools/file": _file,
    ".netrc": _file,
    "results/.slipway-job": _file,
    "ignored.csv": _ignored,
}
#: Whether it goes along, else what is said of it: by `run`, by `drop`, and by `data put`.
GOES, OWN = "", "-"
SAYS: dict[str, tuple[str, str, str]] = {
    "pipe": ("it is a pipe",) * 3,
    "socket": ("it is a socket",) * 3,
    "nowhere": ("it is a link that leads nowhere",) * 3,
    "circle": ("it is a link that leads nowhere",) * 3,
    "to-pipe": ("it is a link to a pipe",) * 3,
    "to-device": ("it is a link to a device",) * 3,
    "to-file": (GOES,) * 3,
    "to-file-by-its-whole-path": (GOES,) * 3,
    "to-file-elsewhere": (GOES,) * 3,
    "to-folder-elsewhere": ("a link to a folder",) * 3,
    "empty": (GOES, "no empty folders", "no empty folders"),
    ".hidden": (GOES, "hidden files and folders of tools", GOES),
    ".tools/file": (GOES, "hidden files and folders of tools", GOES),
    ".netrc": ("give secrets by", "give secrets by", "it may be a secret"),
    "results/.slipway-job": ("left out: results", "results of jobs", GOES),
    "ignored.csv": (OWN,) * 3,
}


def _by_run(folder: Path) -> set[str]:
    tree = walk(folder)
    for line in words(tree, Packed("", 0, len(tree.files)), lambda *_: ()):
        say(line)
    return {*(file.name for file in tree.files), *tree.links, *tree.empty}


def _by_drop(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in to_upload(folder)}


def _by_put(folder: Path) -> set[str]:
    return {file.name.removeprefix(f"{folder.name}/") for file in to_put([folder], "")}


ROADS = (_by_run, _by_drop, _by_put)


def test_every_kind_is_in_the_table() -> None:
    assert KINDS.keys() == SAYS.keys()


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", KINDS)
def test_what_does_not_go_along_is_said_with_its_reason(
    name: str, road: Callable[[Path], set[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.csv").touch()
    (folder / "train.py").touch()
    KINDS[name](folder / name)
    reason = SAYS[name][ROADS.index(road)]

    names = road(folder)

    shown = capsys.readouterr().err
    assert (name in names) is (reason == GOES), shown
    if reason in (GOES, OWN):
        assert "left out: train" not in shown
        assert f"{name}:" not in shown
    else:
        assert reason in shown
        assert name.partition("/")[0] in shown
