"""What is said of what cannot be read, or not yet; the rest is printed and saved."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from slipway.client.service import LogChunk, Service
from slipway.commands.output import download
from slipway.commands.output.lines import Printer
from slipway.commands.output.log import Selection, read
from slipway.failure import Failure
from tests.unit.slipway.client.wrote import Wrote
from tests.unit.slipway.commands.output.test_log import ENDED, ScriptedService, job, printed


class Odd(ScriptedService):
    """A service that refuses one of its logs."""

    refused = "stdout-1.txt"

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        if file == self.refused:
            raise Failure("the path leads out of the output directory")
        return await super().log(job_id, offset, file)


async def test_digits_that_are_no_number_are_a_rank_of_their_own() -> None:
    logs = {"stdout-².txt": b"two\n", "stdout-10.txt": b"ten\n", "stdout-9.txt": b"nine\n"}
    assert (await printed(Selection(), logs)).splitlines() == ["² | two", "9 | nine", "10 | ten"]


@pytest.mark.parametrize("selection", [Selection(), Selection(tail=1)])
async def test_one_log_that_cannot_be_read_does_not_end_the_others(
    selection: Selection, capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.BytesIO()
    logs = {f"stdout-{rank}.txt": b"line\n" for rank in range(3)}

    code = await read(Odd([job(*ENDED)], {1: logs}), "j_1", selection, Printer(out), follow=True, every=0)

    assert code == 1
    assert out.getvalue().splitlines() == [b"0 | line", b"2 | line"]
    assert capsys.readouterr().err.count("stdout-1.txt: the path leads out") == 1


async def test_the_only_log_that_cannot_be_read_is_the_end() -> None:
    api = Odd([job(*ENDED)], {1: {"stdout-1.txt": b"x"}})
    with pytest.raises(Failure, match="leads out"):
        await read(api, "j_1", Selection(), Printer(io.BytesIO()), follow=False)


@pytest.mark.parametrize(("state", "note"), [("queued", True), ("running", True), ("succeeded", False)])
async def test_a_download_says_where_more_may_come(
    state: str,
    note: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Empty(Wrote):
        async def job(self, job_id: str) -> dict[str, Any]:
            return {"id": job_id, "state": state}

        async def outputs(self, job_id: str) -> list[str]:
            return ["OUT"]

    def asking(job: str, ask: Callable[[Service, str], Coroutine[Any, Any, int]], url: str, key: str) -> int:
        return asyncio.run(ask(Empty({}), job))

    monkeypatch.setattr(download, "asking_about", asking)
    assert await asyncio.to_thread(download.download, "j_1", (), tmp_path / "to", "", "") == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("0 files")
    assert (f"j_1 is {state}: what it writes from now on" in shown.err) is note
