"""What a person reads of the code that is sent."""

from __future__ import annotations

import os
from pathlib import Path

from shared.snapshots.pack import Packed
from slipway.client.snapshot.walk import walk
from slipway.client.snapshot.words import LARGE, words
from tests.unit.slipway.client.snapshot.test_walk import put


def test_the_size_and_what_is_left_out_are_named(tmp_path: Path) -> None:
    put(tmp_path, "train.py", ".venv/pyvenv.cfg", ".git/HEAD", "a/__pycache__/x", "b/__pycache__/x", ".env")
    (tmp_path / "broken").symlink_to("absent")

    assert list(words(walk(tmp_path), Packed("", 31 << 10, 12))) == [
        "packed 12 files, 31 KiB (left out: .git, .venv, __pycache__)",
        "left out: .env (give secrets by --secret; `!.env` in .slipwayignore takes it along)",
        "left out: broken: it is a link that leads nowhere",
    ]


def test_a_folder_of_plain_files_takes_one_line(tmp_path: Path) -> None:
    put(tmp_path, "train.py")

    assert list(words(walk(tmp_path), Packed("", 1, 1))) == ["packed 1 file, 1 byte"]


def test_of_many_things_left_out_the_first_are_named(tmp_path: Path) -> None:
    put(tmp_path, *(f".env{number}" for number in range(9)))
    for number in range(7):
        (tmp_path / f"link{number}").symlink_to("absent")

    lines = list(words(walk(tmp_path), Packed("", 2 << 20, 1_234)))

    assert lines[0] == "packed 1,234 files, 2.0 MiB"
    assert lines[1].startswith("left out: .env0, .env1, .env2, .env3, .env4 and 4 more (")
    assert lines[-1] == "left out: 2 more links and files that cannot be sent"


def test_the_largest_files_of_a_large_folder_are_named_and_those_that_git_ignores(tmp_path: Path) -> None:
    put(tmp_path, "train.py")
    put(tmp_path, "notes", text="123456")
    with (tmp_path / "weights.bin").open("wb") as file:
        os.truncate(file.fileno(), 40 << 20)

    line = list(words(walk(tmp_path), Packed("", LARGE + 1, 3), lambda folder, names: {"weights.bin"}))[-1]

    assert line.startswith("the largest files are weights.bin (40.0 MiB, ignored by git), notes (6 bytes)")
    assert "sent again when anything in the folder changes" in line
    assert "slipway data put" in line
