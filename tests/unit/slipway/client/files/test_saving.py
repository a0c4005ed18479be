"""Two downloads into one directory, and a disk that is full."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from slipway.client.calls.answers import FileChunk
from slipway.client.files.arriving import complete
from slipway.client.files.download import save
from slipway.client.files.remote import Remote
from slipway.client.files.save import Busy, Destination
from slipway.client.files.saving import Outcome, save_each, say_reasons
from slipway.client.files.walk import walk
from tests.unit.slipway.client.wrote import Wrote

WHOLE = b"0123456789"
FILE = Remote("OUT", "w", len(WHOLE), 1_500_000_000.0)


async def pieces(*parts: bytes) -> AsyncIterator[FileChunk]:
    for part in parts:
        yield FileChunk([part], len(WHOLE), "")


async def test_a_file_that_another_download_writes_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = Wrote({"w": WHOLE})
    (file,) = (await walk(api, "j_1", ["OUT"])).files
    other = Destination(tmp_path, "j_1")
    writing = other.save(file, 0, pieces(WHOLE[:4], WHOLE[4:]))
    await anext(writing)

    downloading = asyncio.create_task(save(api, "j_1", complete([file]), tmp_path, lambda _: None))
    while "waiting for the files that it fetches" not in capsys.readouterr().err:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert [size async for size in writing] == [6]
    outcome = await downloading

    assert (outcome.saved, outcome.present, outcome.failed) == (0, 1, [])
    assert (api.reads, (tmp_path / "OUT/w").read_bytes()) == ([], WHOLE)
    other.close()


async def test_a_file_is_fetched_where_the_other_download_ends_without_it(tmp_path: Path) -> None:
    api = Wrote({"w": WHOLE})
    (file,) = (await walk(api, "j_1", ["OUT"])).files
    other = Destination(tmp_path, "j_1")
    writing = other.save(file, 0, pieces(WHOLE[:4], WHOLE[4:]))
    await anext(writing)

    downloading = asyncio.create_task(save(api, "j_1", complete([file]), tmp_path, lambda _: None))
    await asyncio.sleep(0)
    await writing.aclose()
    outcome = await downloading

    assert (outcome.saved, outcome.bytes, outcome.failed) == (1, len(WHOLE), [])
    assert (tmp_path / "OUT/w").read_bytes() == WHOLE
    other.close()


async def test_a_part_that_came_to_its_place_meanwhile_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other download ends between the moments in which this one opens the part and locks it."""
    one, other = Destination(tmp_path, "j_1"), Destination(tmp_path, "j_1")
    cut = other.save(FILE, 0, pieces(WHOLE[:9]))
    await anext(cut)
    await cut.aclose()
    lock = fcntl.flock

    def flock(fd: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        (part,) = (tmp_path / "OUT").glob(".slipway-part-*")
        part.write_bytes(WHOLE)
        part.rename(tmp_path / "OUT/w")
        lock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(Busy):
        await anext(one.save(FILE, 0, pieces(b"x")))

    assert (tmp_path / "OUT/w").read_bytes() == WHOLE
    one.close()
    other.close()


async def test_a_file_is_locked_until_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, replace, locked = Destination(tmp_path, "j_1"), os.replace, False

    def in_place(source: str, *names: str, **folders: Any) -> None:
        nonlocal locked
        (part,) = (tmp_path / "OUT").glob(".slipway-part-*")
        with part.open() as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                locked = True
        replace(source, *names, **folders)

    monkeypatch.setattr(os, "replace", in_place)
    assert [size async for size in place.save(FILE, 0, pieces(WHOLE))] == [10]

    assert locked
    assert (tmp_path / "OUT/w").stat().st_mtime == FILE.modified
    place.close()


async def test_a_full_disk_ends_the_download_and_nothing_more_is_read() -> None:
    files = [Remote("OUT", str(number), 1, None) for number in range(100)]
    outcome, begun = Outcome(), list[str]()

    async def has(file: Remote) -> bool:
        return False

    async def full(file: Remote) -> int:
        begun.append(file.name)
        raise OSError(errno.ENOSPC, "No space left on device")

    await save_each(complete(files), has, full, lambda _: None, outcome)

    assert begun == ["OUT/0"]
    assert sorted(name for name, _ in outcome.failed) == sorted(file.name for file in files)
    assert outcome.failed[-1] == ("OUT/99", "No space left on device, so it was not read")


def test_people_read_the_first_reasons_and_how_many_more_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_reasons([(f"OUT/{number}\x1b", "it is gone") for number in range(1310)])
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 11
    assert "\x1b" not in shown[0]
    assert shown[-1] == "slipway: … and 1,300 more; --json names them all"

    say_reasons([("OUT/1", "it is gone")])
    assert capsys.readouterr().err == "slipway: OUT/1: it is gone\n"
