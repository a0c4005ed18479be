"""`slipway log`: runs that are not mixed, and what is said beside the log."""

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from slipway.client.calls.answers import FileChunk, LogChunk
from slipway.client.calls.refusal import Absent
from slipway.client.jobs.lines import JsonPrinter, Printer
from slipway.client.jobs.log import read
from slipway.client.jobs.remarks import remark
from slipway.client.jobs.selection import Selection
from slipway.client.service import Service
from slipway.commands.asking import exit_code
from slipway.failure import Failure
from slipway.main import app
from tests import breadth


class ScriptedService(Service):
    """An API that says one thing of the job after another, and has the logs of its present run."""

    def __init__(self, jobs: Sequence[dict[str, Any]], logs: dict[int, dict[str, bytes] | bytes]) -> None:
        self._jobs = list(jobs)
        self._logs = {run: log if isinstance(log, dict) else {"stdout.txt": log} for run, log in logs.items()}
        self._now: dict[str, Any] = {}
        self.looks = 0

    async def job(self, job_id: str) -> Any:
        self.looks += 1
        self._now = self._jobs.pop(0) if len(self._jobs) > 1 else self._jobs[0]
        return self._now

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        if self._run not in self._logs:
            raise Absent("no node has started the job")
        top = "" if path == "." else f"{path}/"
        names = {name.removeprefix(top): name for name in self._logs[self._run] if name.startswith(top)}
        logs = self._logs[self._run]
        return [{"name": own, "bytes": len(logs[name])} for own, name in names.items() if "/" not in own]

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        data = self._logs[self._run][file][offset:]
        return LogChunk(data, offset + len(data), more=bool(data), file=file)

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        data = self._logs[self._run][path]
        return FileChunk(data[first : (len(data) if last is None else last + 1)], len(data), "")

    @property
    def _run(self) -> int:
        return sum(entry["state"] == "queued" for entry in self._now["history"])


RANKS: dict[str, bytes] = {
    "stdout-10.txt": b"ten\n",
    "stdout-2.txt": b"two\nis a loss of 0.1\nno end",
    "stdout-0.txt": b"zero\n",
    "stdout-job_prep-0.txt": b"prepared\n",
    "stderr-0.txt": b"bad\n",
    "execution.log": b"x",
    "deep/lr=1+2/a.txt": b"deep\n",
}
ENDED = ("queued", "running", "succeeded")


async def printed(expected: Selection, logs: dict[str, bytes] | bytes, **how: Any) -> str:
    out = io.BytesIO()
    code = await read(
        ScriptedService([job(*ENDED)], {1: logs}), "j_1", expected, Printer(out, **how), follow=False
    )
    assert code == 0
    return out.getvalue().decode()


async def test_each_line_has_the_rank_of_its_process_in_their_order() -> None:
    assert (await printed(Selection(), RANKS)).splitlines() == [
        "0 | zero",
        "0 ! bad",
        "2 | two",
        "2 | is a loss of 0.1",
        "2 | no end",
        "10 | ten",
    ]


@pytest.mark.parametrize(
    ("expected", "pattern", "lines"),
    [
        (Selection(rank="2"), "", ["two", "is a loss of 0.1", "no end"]),
        (Selection(rank="0"), "", ["zero", "bad"]),
        (Selection(rank="0", stream="stdout"), "", ["zero"]),
        (Selection(stream="stderr"), "", ["bad"]),
        (Selection(stream="stdout", tail=1), "", ["0 | zero", "2 | no end", "10 | ten"]),
        (Selection(tail=1), "", ["0 | zero", "0 ! bad", "2 | no end", "10 | ten"]),
        (Selection(rank="2", tail=2), "", ["is a loss of 0.1", "no end"]),
        (Selection(tail=0), "", []),
        (Selection(), r"loss of \d", ["2 | is a loss of 0.1"]),
        (Selection(file="stderr-0.txt"), "", ["bad"]),
        (Selection(file="deep/lr=1+2/a.txt"), "", ["deep"]),
        (Selection(rank="job_prep-0"), "", None),
    ],
)
async def test_a_part_of_the_logs(expected: Selection, pattern: str, lines: list[str] | None) -> None:
    grep = re.compile(pattern) if pattern else None
    if lines is None:
        with pytest.raises(Failure, match="its processes have 0, 2, 10"):
            await printed(expected, RANKS, grep=grep)
        return
    assert (await printed(expected, RANKS, grep=grep)).splitlines() == lines


async def test_a_rank_may_be_that_of_a_worker_and_0_is_the_only_process() -> None:
    logs = {"stdout-ps-0.txt": b"ps\n", "stdout-wk-0.txt": b"a\n", "stdout-wk-1.txt": b"b\n"}
    assert await printed(Selection(rank="1"), logs) == "b\n"
    assert await printed(Selection(rank="0"), b"alone") == "alone"


async def test_a_rank_that_the_job_has_not_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(Failure, match="no process of the job has the rank 9; its only process has 0"):
        await printed(Selection(rank="9"), b"alone")
    many = {f"stdout-{rank}.txt": b"" for rank in range(1000)}
    named = ", ".join([*map(str, range(11)), "…", "999"])
    with pytest.raises(Failure, match=f"the rank 1000; its processes have {named}$"):
        await printed(Selection(rank="1000"), many)


async def test_a_log_without_a_line_is_no_object(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.BytesIO()
    service = ScriptedService([job(*ENDED)], {1: b""})
    assert await read(service, "j_1", Selection(), JsonPrinter(out), follow=False) == 0
    assert (out.getvalue(), capsys.readouterr().err) == (b"", "slipway: succeeded: nothing was written\n")


async def test_the_preparation_is_shown_where_nothing_else_is() -> None:
    logs = {"stdout-job_prep.txt": b"prepared\n", "stderr.txt": b""}
    assert await printed(Selection(), logs) == "prepared\n"


@pytest.mark.parametrize("size", [1, 3, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("end", [b"", b"\n"])
async def test_a_tail_is_found_in_a_log_of_any_size(size: int, end: bytes) -> None:
    log = b"first\n" + b"x" * size + b"\nlast" + end
    assert await printed(Selection(tail=1), log) == "last" + end.decode()
    assert await printed(Selection(tail=2), log) == log[6:].decode()
    assert await printed(Selection(tail=9), log) == log.decode()


@pytest.mark.parametrize(
    ("lines", "tail", "expected"),
    [
        (b"a 1\nb 2\na 3\nb 4\n", 1, b"a 3\n"),
        (b"a 1\nb 2\na 3\nb 4", 2, b"a 1\na 3\n"),
        (b"a 1\nb 2\n", 9, b"a 1\n"),
        (b"b 1\nb 2\n", 1, b""),
        (b"a 1\nb 2\na", 1, b"a\n"),
        (b"a 1\nb 2\n", 0, b""),
        (b"a 1\n" + b"b\n" * breadth.size(1_500_000, 150_000), 1, b"a 1\n"),
        (b"a 1\n" + b"a 2\n" + b"b" * breadth.size(3_000_000, 300_000) + b"\n", 1, b"a 2\n"),
        ((b"a" + b"b" * 62 + b"\n") * 16_385 + b"b\n", 16_385, (b"a" + b"b" * 62 + b"\n") * 16_385),
    ],
    ids=["of two", "two", "all", "none", "without end", "zero", "far away", "before a long line", "edge"],
)
async def test_the_last_lines_are_those_that_the_pattern_finds(
    lines: bytes, tail: int, expected: bytes
) -> None:
    assert (await printed(Selection(tail=tail), lines, grep=re.compile("a"))).encode() == expected


async def test_no_empty_line_is_found_at_the_end_of_a_log() -> None:
    assert await printed(Selection(tail=1), b"x\n\ny\n", grep=re.compile("^$")) == "\n"


async def test_a_file_gets_the_bytes_of_one_process_and_a_terminal_nothing_that_moves_its_cursor() -> None:
    log = b"\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07 \xff\t20%\r\n"
    api, out = ScriptedService([job(*ENDED)], {1: log}), io.BytesIO()
    await read(api, "j_1", Selection(), Printer(out), follow=False)
    assert out.getvalue() == log
    escaped = "\\x1b]0;title\\x07 \\xff\t20%"
    assert await printed(Selection(), log, terminal=True) == f"red{escaped}\n"
    shown = await printed(Selection(), log, terminal=True, colour=True)
    assert shown == f"\x1b[31mred\x1b[0m{escaped}\x1b[0m\n"


async def test_lines_that_arrive_have_their_time() -> None:
    assert await printed(Selection(), b"a\nb\n", clock=lambda: "12:00") == "12:00 a\n12:00 b\n"


async def test_a_line_that_never_ends_is_printed_in_parts() -> None:
    shown = await printed(Selection(), b"x" * 200_000, terminal=True)
    assert shown.replace("\n", "") == "x" * 200_000
    assert max(map(len, shown.splitlines())) == 65_536


async def test_the_log_of_a_job_that_has_ended_is_followed_without_a_wait() -> None:
    api = ScriptedService([job(*ENDED)], {1: b"all\n"})
    assert await read(api, "j_1", Selection(), Printer(io.BytesIO()), follow=True, every=3600) == 0
    assert api.looks == 1


async def test_a_log_that_vanishes_between_two_looks_ends_nothing() -> None:
    class LostLog(ScriptedService):
        async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
            if self.looks == 1:
                raise Absent("it is not there any more")
            return await super().log(job_id, offset, file)

    api, out = LostLog([job("queued", "running"), job(*ENDED)], {1: b"all\n"}), io.BytesIO()
    assert await read(api, "j_1", Selection(), Printer(out), follow=True, every=0) == 0
    assert out.getvalue() == b"all\n"


async def test_a_file_that_the_job_did_not_write_is_a_failure() -> None:
    with pytest.raises(Failure, match=r"there is no x\.txt"):
        await printed(Selection(file="x.txt"), b"")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--grep", "("], "is not a regular expression"),
        (["--timestamps"], "timestamps need --follow"),
        (["--rank", "1", "--file", "stderr.txt"], "exclude each other"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: list[str], text: str) -> None:
    ran = CliRunner().invoke(app, ["log", "j_1", "--url", "http://127.0.0.1:1", *options])
    assert isinstance(ran.exception, Failure)
    assert text in str(ran.exception)


def job(*states: str, **members: Any) -> dict[str, Any]:
    history = [{"sequence": number, "state": state} for number, state in enumerate(states, 1)]
    return {"id": "j_1", "state": states[-1], "attempt": 1, "history": history, "engine": {}, **members}


async def test_a_run_after_a_preemption_is_read_from_its_beginning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    again = ("queued", "running", "queued", "running")
    api = ScriptedService(
        [job("queued"), job(*again[:2]), job(*again[:2]), job(*again), job(*again, "succeeded")],
        {1: b"first run\n", 2: b"the second run\n"},
    )
    out = io.BytesIO()

    code = await read(api, "j_1", Selection(), Printer(out), follow=True, every=0)

    assert out.getvalue() == b"first run\nthe second run\n"
    assert "j_1 starts again" in capsys.readouterr().err
    assert code == 0


async def test_following_a_job_that_fails_returns_1_and_names_its_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = job("queued", "running", "failed", exitCode=3)

    code = await read(
        ScriptedService([failed], {1: b""}), "j_1", Selection(), Printer(io.BytesIO()), follow=True, every=0
    )

    assert code == 1
    assert capsys.readouterr().err == "slipway: failed, exit code 3\n"


async def test_a_job_that_waits_has_written_nothing_yet(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        await read(
            ScriptedService([job("accepted")], {}), "j_1", Selection(), Printer(io.BytesIO()), follow=False
        )
        == 0
    )
    assert capsys.readouterr().err == "slipway: accepted: nothing was written yet\n"


async def test_a_rejected_job_names_the_command_that_shows_its_problems() -> None:
    with pytest.raises(Failure, match="slipway show j_1"):
        await read(
            ScriptedService([job("rejected")], {}), "j_1", Selection(), Printer(io.BytesIO()), follow=True
        )


async def test_a_job_that_was_cancelled_before_it_ran_is_no_failure_to_read() -> None:
    assert (
        await read(
            ScriptedService([job("cancelled")], {}), "j_1", Selection(), Printer(io.BytesIO()), follow=False
        )
        == 0
    )


@pytest.mark.parametrize(
    ("state", "part", "attempt", "text"),
    [
        ("running", {}, 1, ""),
        ("succeeded", {}, 1, ""),
        ("failed", {}, 1, "failed"),
        ("failed", {"stream": "stderr"}, 1, "failed"),
        ("failed", {"stream": "stdout"}, 1, "failed; its errors: slipway log j_1 --stderr"),
        ("failed", {"file": "stderr-0.txt"}, 1, "failed"),
        ("failed", {"file": "stdout-0.txt"}, 1, "failed; see `slipway log j_1 --file stderr-0.txt`"),
        ("succeeded", {}, 3, "the attempt before: slipway log j_1 --attempt 2"),
        ("failed", {}, 2, "failed; the attempt before: slipway log j_1 --attempt 1"),
        ("failed", {"attempt": 1}, 2, ""),
    ],
)
def test_what_is_said_of_a_log_that_was_read(
    state: str, part: dict[str, Any], attempt: int, text: str
) -> None:
    selection = Selection(**part)
    assert remark(job(state, attempt=attempt), selection, [selection.file], written=True) == text


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"state": "succeeded", "exitCode": 0}, 0),
        ({"state": "failed", "exitCode": 7}, 7),
        ({"state": "failed", "exitCode": 0}, 1),
        ({"state": "failed"}, 1),
        ({"state": "cancelled", "exitCode": 999}, 255),
        ({"state": "lost"}, 1),
    ],
)
def test_a_command_exits_as_its_job_did(members: dict[str, Any], code: int) -> None:
    assert exit_code(members) == code
