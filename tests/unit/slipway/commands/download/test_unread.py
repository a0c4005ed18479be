"""What is said of what cannot be read, or not yet; the rest is printed and saved."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from slipway.client.calls.answers import LogChunk
from slipway.client.jobs.lines import Printer
from slipway.client.jobs.log import read
from slipway.client.jobs.selection import Selection
from slipway.client.service import Service
from slipway.commands import wait
from slipway.commands.cat import cat
from slipway.commands.download import download
from slipway.commands.files import files
from slipway.failure import Failure
from tests.unit.slipway.client.wrote import Wrote
from tests.unit.slipway.commands.log.test_log import ENDED, ScriptedService, job, printed


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

    assert code == 0  # the job has succeeded
    assert out.getvalue().splitlines() == [b"0 | line", b"2 | line"]
    assert capsys.readouterr().err.count("stdout-1.txt: the path leads out") == 1


async def test_the_only_log_that_cannot_be_read_is_the_end() -> None:
    api = Odd([job(*ENDED)], {1: {"stdout-1.txt": b"x"}})
    with pytest.raises(Failure, match="leads out"):
        await read(api, "j_1", Selection(), Printer(io.BytesIO()), follow=False)


async def test_a_job_that_succeeded_is_followed_to_0_though_its_log_cannot_be_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    api = Odd([job(*ENDED)], {1: {"stdout-1.txt": b"x"}})
    out = Printer(io.BytesIO())

    assert await read(api, "j_1", Selection(), out, follow=True, every=0) == 0
    assert "stdout-1.txt: the path leads out" in capsys.readouterr().err
    with pytest.raises(Failure, match="leads out"):
        await read(api, "j_1", Selection(file="stdout-1.txt"), out, follow=True, every=0)


class Empty(Wrote):
    """A service whose job is in one state after the other."""

    def __init__(self, *states: str, held: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(held)
        self.states = list(states)

    async def job(self, job_id: str) -> Any:
        return {
            "id": job_id,
            "name": "n",
            "state": self.states.pop(0) if len(self.states) > 1 else self.states[0],
        }

    async def outputs(self, job_id: str) -> list[str]:
        return ["OUT"]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Callable[[Empty], None]:
    def serve(api: Empty) -> None:
        def asking(
            job: str, ask: Callable[[Service, str], Coroutine[Any, Any, int]], url: str, key: str,
            attempt: int = 0,
        ) -> int:  # fmt: skip
            return asyncio.run(ask(api.at_attempt(attempt), job))

        for module in (cat, download, files, wait):
            monkeypatch.setattr(module, "asking_about", asking)

    return serve


Serve = Callable[[Empty], None]


@pytest.mark.parametrize(("state", "note"), [("queued", True), ("running", True), ("succeeded", False)])
async def test_a_download_before_the_end_says_that_it_is_one(
    state: str, note: bool, tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty(state))

    assert await asyncio.to_thread(download.download, "j_1", (), tmp_path / "to", "", "") == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("0 files")
    assert (f"j_1 is {state}: files that it writes from now on" in shown.err) is note
    assert (f"there is nothing in $AZ_BATCHAI_OUTPUT_OUT yet: the job is {state}" in shown.err) is note
    assert ("left nothing in $AZ_BATCHAI_OUTPUT_OUT" in shown.err) is not note


@pytest.mark.parametrize(("state", "yet"), [("running", " yet: the job is running"), ("failed", "")])
async def test_yet_is_said_of_what_may_still_be_written_and_of_nothing_else(
    state: str, yet: str, tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty(state))

    def failure(*call: Any) -> str:
        with pytest.raises(Failure) as failed:
            call[0](*call[1:])
        return str(failed.value)

    patterns = await asyncio.to_thread(failure, download.download, "j_1", ("a", "b"), tmp_path, "", "")
    assert patterns.startswith(f"no file fits a b{yet}; ")
    name = await asyncio.to_thread(failure, cat.cat, "j_1", "OUT/x", "", "")
    assert name.startswith(f"there is no file OUT/x{yet}; ")
    refused = await asyncio.to_thread(failure, cat.cat, "j_1", "OUT/a\\b", "", "")
    assert refused.startswith("OUT/a\\b has a backslash, which clients turn into a slash; ")
    await asyncio.to_thread(files.run, "j_1", "OUT", ".", "", "")
    assert capsys.readouterr().out == f"there are no files{yet}\n"
    await asyncio.to_thread(lambda: files.tree("j_1", "", "", "", as_json=False))
    assert capsys.readouterr().out == f"there are no files{yet}\n"


async def test_what_was_written_last_is_found_though_the_job_ended_meanwhile(
    service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    class Late(Empty):
        async def job(self, job_id: str) -> Any:
            self.root = {"late.txt": b"1"}
            return await super().job(job_id)

    service(Late("succeeded"))

    await asyncio.to_thread(files.run, "j_1", "OUT", ".", "", "")

    assert "late.txt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("states", "code", "text"),
    [
        (("running",), wait.NOT_YET, "j_1 is running, and goes on"),
        (("succeeded",), 0, "j_1  n: succeeded"),
        (("failed",), 1, "j_1  n: failed"),
    ],
)
async def test_a_wait_ends_with_its_time_or_the_job(
    states: tuple[str, ...], code: int, text: str, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty(*states))

    assert await asyncio.to_thread(lambda: wait.run("j_1", "", "", timeout=0.01)) == code
    assert capsys.readouterr().out.startswith(text)


async def test_each_pattern_of_which_nothing_fits_is_named(
    tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty("succeeded", held={"a.txt": b"a"}))

    code = await asyncio.to_thread(download.download, "j_1", ("a.txt", "modle/*"), tmp_path, "", "")

    assert code == 1
    assert (tmp_path / "OUT/a.txt").read_bytes() == b"a"
    assert "no file fits modle/*;" in capsys.readouterr().err


def deep() -> dict[str, Any]:
    folder: dict[str, Any] = {"file": b"x"}
    for number in range(70, 0, -1):
        folder = {f"d{number}": folder}
    return folder


async def test_folders_deeper_than_a_walk_goes_make_a_download_fail(
    tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty("succeeded", held={**deep(), "a.txt": b"a"}))

    assert await asyncio.to_thread(download.download, "j_1", (), tmp_path, "", "") == 1

    assert (tmp_path / "OUT/a.txt").read_bytes() == b"a"
    assert "it lies more than 64 folders deep" in capsys.readouterr().err


async def test_a_pattern_that_fits_too_deep_folders_alone_fails_with_that_reason(
    tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty("succeeded", held=deep()))

    def ask() -> None:
        with pytest.raises(Failure, match="no file fits OUT/d1"):
            download.download("j_1", ("OUT/d1",), tmp_path, "", "")

    await asyncio.to_thread(ask)

    assert "it lies more than 64 folders deep" in capsys.readouterr().err


async def test_files_of_another_job_in_the_directory_are_named(
    tmp_path: Path, service: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    service(Empty("succeeded", held={"a.txt": b"a"}))

    for job_id, other in (("j_1", ""), ("j_1", ""), ("j_2", "j_1"), ("j_2", "")):
        await asyncio.to_thread(download.download, job_id, (), tmp_path, "", "")
        assert ("has files of" in capsys.readouterr().err) is bool(other)


def test_a_directory_in_which_nothing_can_be_made_is_refused_before_the_job(tmp_path: Path) -> None:
    download.check_directory(tmp_path / "new/below")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(Failure, match="no file can be saved in /proc: "):
        download.check_directory(Path("/proc/nope"))
