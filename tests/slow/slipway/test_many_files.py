"""A folder with 100,000 files, which is what a download meets of a job that writes one for each example."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from slipway.client.calls.answers import FilePage
from slipway.client.files.arriving import complete
from slipway.client.files.download import save
from slipway.client.files.saving import say_reasons
from slipway.client.files.walk import walk
from tests.unit.slipway.client.wrote import MOMENT, Wrote

FILES, PAGE = 100_000, 1000
#: Bytes for the names, sizes and times of all of them: a page more or less is in the noise.
MEMORY = 100 << 20


class Many(Wrote):
    """A job whose files are all in one folder. Their names lead elsewhere on some systems."""

    def __init__(self) -> None:
        super().__init__({})

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        first = int(after or 0)
        numbers = range(first, first + PAGE)
        self.lists += 1
        entries = [{"name": f"..\\{n:06}", "bytes": 1, "modified": MOMENT} for n in numbers]
        return FilePage(entries, str(numbers.stop) if numbers.stop < FILES else "")


async def test_all_are_listed_in_bounded_memory_and_what_is_wrong_with_each_is_said_in_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = Many()
    tracemalloc.start()
    try:
        tree = await walk(api, "j_1", ["OUT"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    some = tree.files[:500]  # each is refused by itself
    outcome = await save(api, "j_1", complete(some), tmp_path / "to", lambda _: None)
    say_reasons(outcome.failed)

    assert (len(tree.files), tree.unread, api.lists) == (FILES, (), FILES // PAGE)
    assert peak < MEMORY, f"{peak / (1 << 20):.0f} MiB"
    assert (outcome.saved, len(outcome.failed), api.reads) == (0, 500, [])
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines), lines[-1]) == (11, "slipway: … and 490 more; --json names them all")
    assert os.listdir(tmp_path) == ["to"]  # noqa: PTH208 - an iterator of pathlib would block the loop
