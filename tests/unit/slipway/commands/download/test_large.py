"""Downloads that are larger than a person expects: what is asked first, and what lies on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slipway.client.calls.answers import FilePage
from slipway.client.files.arriving import complete
from slipway.client.files.download import find_and_save, save
from slipway.client.files.output import CHUNK
from slipway.client.files.remote import Remote
from slipway.client.files.room import Room, TooLarge
from slipway.client.files.walk import walk
from slipway.commands.download.download import fetch
from slipway.failure import Failure
from tests.unit.slipway.client.wrote import Wrote

_TB = 10**12


def remote(name: str, size: int) -> Remote:
    return Remote("OUT", name, size, None)


@pytest.mark.parametrize(
    ("bound", "free", "says"),
    [
        (100, 10 * _TB, "the files have 0.0 GB or more, of 10.0 TB that are free"),
        (None, 100, "the files have 0.0 GB, and the disk has 0.0 GB free"),
        (200, 100, "and the disk has"),
    ],
)
def test_the_sum_of_the_files_is_bounded_before_any_is_read(
    tmp_path: Path, bound: int | None, free: int, says: str
) -> None:
    room = Room(tmp_path / "not/yet", bound, lambda _: free)

    room.expect([remote("a", 60), remote("b", 40)])
    with pytest.raises(TooLarge, match=says):
        room.expect([remote("c", 1)])


def test_what_is_there_already_takes_no_room(tmp_path: Path) -> None:
    (tmp_path / "OUT").mkdir()
    (tmp_path / "OUT/a").write_bytes(bytes(60))

    Room(tmp_path, 100, lambda _: 100).expect([remote("a", 60), remote("b", 100)])
    with pytest.raises(TooLarge):
        Room(tmp_path, 100, lambda _: 100).expect([remote("a", 61), remote("b", 40)])


async def test_nothing_of_a_download_that_is_too_large_is_read(tmp_path: Path) -> None:
    api, to = Wrote({"a": b"0123456789", "b": {"c": b"0123456789"}}), tmp_path / "to"

    with pytest.raises(TooLarge):
        await find_and_save(api, "j_1", ["OUT"], (), lambda tree: bool(tree.files), to, room=Room(to, 9))

    assert (api.reads, to.exists()) == ([], False)


class Endless(Wrote):
    """Its file is said to have five terabytes."""

    async def files_page(self, *words: Any) -> Any:
        page = await super().files_page(*words)
        return FilePage([{**one, "bytes": 5 * _TB} for one in page.files], "")


async def test_without_a_terminal_a_very_large_download_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    api = Endless({"a": b"0"})

    with pytest.raises(Failure, match=r"the files have 5\.0 TB.* add --any-size: slipway download j_1"):
        await fetch(api, "j_1", ["OUT"], (), None)

    assert api.reads == []


async def test_zeros_become_holes(tmp_path: Path) -> None:
    content = bytes(CHUNK) + b"x" + bytes(2 * CHUNK - 1)
    api = Wrote({"a": content, "zeros": bytes(CHUNK), "short": bytes(10)})
    tree = await walk(api, "j_1", ["OUT"])

    outcome = await save(api, "j_1", complete(tree.files), tmp_path, lambda _: None)

    assert (outcome.saved, outcome.failed) == (3, [])
    assert (tmp_path / "OUT/a").read_bytes() == content
    assert (tmp_path / "OUT/zeros").read_bytes() == bytes(CHUNK)
    assert (tmp_path / "OUT/short").read_bytes() == bytes(10)
    assert (tmp_path / "OUT/a").stat().st_blocks * 512 < len(content) // 2
    assert (tmp_path / "OUT/zeros").stat().st_blocks * 512 < CHUNK // 2
