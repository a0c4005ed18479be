"""The last lines that a failed job wrote: which file, which lines, and never a reason to wait."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from shared.core.engine import OutputFile
from shared.core.job import JobState, Reason, Target
from shared.delivery.last_lines import error_line
from shared.delivery.receipt import LastLines
from shared.delivery.receipt_files import put_final
from tests.unit.recorded import FAILED, RUN, TARGET, Written, job_of, ports_of
from tests.unit.world import World


async def last_lines(
    world: World,
    drops: Written,
    output: dict[str, bytes],
    reason: Reason = Reason.USER,
    target: Target | None = TARGET,
) -> dict[str, Any] | None:
    world.engine.output = output
    job = job_of(*RUN, FAILED, reason=reason, target=target)
    await put_final(ports_of(world, drops, job), job.id)
    receipt: dict[str, Any] = json.loads(drops.receipt_files["default/r/receipt.json"])
    return receipt.get("lastLines")


def _lines(count: int) -> bytes:
    """Of eight bytes each, with its end."""
    return b"".join(b"%07d\n" % n for n in range(count))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"one\ntwo", ["one", "two"]),
        (_lines(21), [f"{n:07}" for n in range(1, 21)]),
        # All of it: the first line is whole.
        (b"".join(b"x" * 511 + b"\n" for _ in range(8)), ["x" * 511] * 8),
        # One byte too long: the first line would begin in its middle, perhaps in a secret.
        (b"!" + b"".join(b"x" * 511 + b"\n" for _ in range(8)), ["x" * 511] * 7),
        (b"\xff text", ["\N{REPLACEMENT CHARACTER} text"]),
        (b"the key is storage-key", ["the key is ***"]),
        (b"\x1b[1;31mthe key\x1b[0m is storage\x1b[0m-key\x1b[2J", ["the key is ***"]),
        (b"the \x1b(Bkey is storage\x1b(B\x1b[m-key\x1b=", ["the key is ***"]),
        (b"\x1b]8;;file:///x.py\x1b\\x.py\x1b]8;;\x1b\\ has storage\x1b]0;title\x07-key", ["x.py has ***"]),
        (b"one\x1b]0;no end\ntwo", ["one", "two"]),
        (b"\r10%\r100%\r\nboom\n\n", ["100%", "boom", ""]),
        # Its first states are not read.
        (b"".join(b"\r%d%%" % n for n in range(20_000)), ["19999%"]),
    ],
    ids=[
        *("short", "twenty", "whole", "cut", "no text", "secret"),
        *("colours", "character sets", "links and titles", "no end", "progress", "long progress"),
    ],
)
async def test_the_last_lines_are_whole_few_and_without_secrets(
    world: World, drops: Written, text: bytes, shown: list[str]
) -> None:
    assert await last_lines(world, drops, {"stderr.txt": text}) == {"file": "stderr.txt", "lines": shown}


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (
            ["Traceback (most recent call last):", '  File "x.py"', "ValueError: no data"],
            "ValueError: no data",
        ),
        (
            ["ValueError: no data", "[0]: exitcode : 1", "errors.ChildFailedError:", "====="],
            "ValueError: no data",
        ),
        (
            ["[rank1]: torch.OutOfMemoryError: CUDA", "E1 api.py failed"],
            "[rank1]: torch.OutOfMemoryError: CUDA",
        ),
        (["sh: 1: nothing: not found", "", " ---- "], "sh: 1: nothing: not found"),
        (["KeyboardInterrupt"], "KeyboardInterrupt"),
        ([" \x07bad\u202e\ud800 thing\x1b]0;title\x07 "], "bad ? thing ]0;title"),
        (["x" * 5000], "x" * 300),
        (["", "..."], ""),
        ([], ""),
    ],
)
def test_one_line_says_why(lines: list[str], line: str) -> None:
    assert error_line(LastLines("stderr.txt", tuple(lines))) == line


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["epoch 1", "ValueError: no data", "done"], "ValueError: no data"),
        (["epoch 1", "epoch 2"], ""),
    ],
)
def test_a_line_of_standard_output_says_why_only_with_the_name_of_an_error(
    lines: list[str], line: str
) -> None:
    assert error_line(LastLines("stdout-0.txt", tuple(lines))) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"ValueError: " + b"x" * 5000, ["ValueError: " + "x" * 4084]),
        (b"one\nValueError: " + b"x" * 5000 + b"\n \n", ["ValueError: " + "x" * 4084]),
        (b"boom\n" + b"\n" * 5000, ["boom"]),
        # Its beginning, which tells whether a secret stands in it, is too far away.
        (b"x" * 70_000, None),
        (b"\n" * 10, None),
    ],
    ids=["alone", "the last", "blank lines", "longer still", "nothing"],
)
async def test_one_line_that_is_longer_than_the_others_together_may_be_shows_its_beginning(
    world: World, drops: Written, text: bytes, shown: list[str] | None
) -> None:
    assert await last_lines(world, drops, {"stderr.txt": text}) == (
        shown and {"file": "stderr.txt", "lines": shown}
    )


@pytest.mark.parametrize(("text", "starts"), [(b"\n" * 4096, [0]), (b"\n" * 4097, [1, 0])])
async def test_a_file_that_was_read_whole_is_not_read_again(
    world: World, drops: Written, text: bytes, starts: list[int]
) -> None:
    assert await last_lines(world, drops, {"stderr.txt": text}) is None
    assert [arguments[-2] for call, *arguments in world.engine.queries if call == "read"] == starts


@pytest.mark.parametrize(
    ("files", "reason", "chosen"),
    [
        (("stdout.txt", "stderr.txt"), Reason.USER, "stderr.txt"),
        (("stderr-2.txt", "stderr-10.txt", "stderr-1.txt"), Reason.USER, "stderr-1.txt"),
        (("stderr-job_prep.txt", "stderr.txt"), Reason.USER, "stderr.txt"),
        (("stderr-a.txt", "stderr-job_prep.txt"), Reason.PREPARATION, "stderr-job_prep.txt"),
        (("stderr-job_prep.txt",), Reason.USER, "stderr-job_prep.txt"),
        (("stderr.txt",), Reason.PREPARATION, "stderr.txt"),
        (("empty-stderr.txt", "stdout.txt"), Reason.USER, "stdout.txt"),
        (("stderr-job_prep.txt", "stdout-0.txt"), Reason.USER, "stdout-0.txt"),
        (("stdout-job_prep.txt", "stderr-0.txt"), Reason.PREPARATION, "stdout-job_prep.txt"),
        (("empty-stderr.txt", "execution.log"), Reason.USER, None),
        ((), Reason.USER, None),
    ],
)
async def test_the_file_is_the_first_that_may_say_why(
    world: World, drops: Written, files: Iterable[str], reason: Reason, chosen: str | None
) -> None:
    result = await last_lines(world, drops, {name: name.encode() for name in files}, reason)
    assert result == (chosen and {"file": chosen, "lines": [chosen]})


@pytest.mark.parametrize(
    ("named", "chosen"), [((2,), 2), ((3, 5), 3), ((), 0), ((9,), 0)], ids=["third", "two", "none", "too far"]
)
async def test_of_several_processes_the_first_that_ended_with_an_error_says_why(
    world: World, drops: Written, named: tuple[int, ...], chosen: int
) -> None:
    texts = {
        f"stderr-{rank}.txt": b"ValueError: bad" if rank in named else b"a warning" for rank in range(10)
    }
    result = await last_lines(world, drops, texts)
    assert result is not None
    assert result["file"] == f"stderr-{chosen}.txt"
    assert sum(call == "read" for call, *_ in world.engine.queries) <= 8


@pytest.mark.parametrize("size", [0, None])
async def test_a_file_without_text_and_a_directory_are_passed_over(
    world: World, drops: Written, size: int | None
) -> None:
    world.engine.listed["."] = (OutputFile("stderr-a", size, None), OutputFile("stderr-b", 4, None))
    result = await last_lines(world, drops, {"stderr-a": b"", "stderr-b": b"boom"})
    assert result == {"file": "stderr-b", "lines": ["boom"]}


async def test_a_long_name_is_cut(world: World, drops: Written) -> None:
    result = await last_lines(world, drops, {"stderr" + "x" * 400: b"boom"})
    assert result == {"file": "stderr" + "x" * 294, "lines": ["boom"]}


@pytest.mark.parametrize(
    "history",
    [
        (*RUN, (2, JobState.SUCCEEDED)),
        (*RUN, (2, JobState.CANCELLED)),
        ((0, JobState.ACCEPTED), (1, JobState.SUBMITTING), FAILED),
    ],
    ids=["succeeded", "cancelled", "never ran"],
)
async def test_only_a_job_that_ran_and_failed_shows_its_last_lines(
    world: World, drops: Written, history: tuple[Any, ...]
) -> None:
    world.engine.output = {"stderr.txt": b"boom"}
    job = job_of(*history, target=TARGET)
    await put_final(ports_of(world, drops, job), job.id)
    assert "lastLines" not in json.loads(drops.receipt_files["default/r/receipt.json"])


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING])
async def test_a_failed_job_that_the_cluster_had_shows_them(
    world: World, drops: Written, state: JobState
) -> None:
    world.engine.output = {"stderr.txt": b"boom"}
    job = job_of((0, state), FAILED, target=TARGET)
    await put_final(ports_of(world, drops, job), job.id)
    assert json.loads(drops.receipt_files["default/r/receipt.json"])["lastLines"]["lines"] == ["boom"]


async def test_no_one_waits_for_an_engine_that_hangs(world: World, drops: Written) -> None:
    world.engine.hangs.add("files")
    world.policy(last_lines_patience=0)
    assert await last_lines(world, drops, {"stderr.txt": b"boom"}) is None


async def test_without_the_document_that_has_the_secrets_no_line_is_shown(
    world: World, drops: Written
) -> None:
    world.engine.output = {"stderr.txt": b"boom"}
    job = job_of(*RUN, FAILED, target=TARGET)
    ports = ports_of(world, drops, job)
    ports.ledger.unreadable = True  # type: ignore[attr-defined]
    await put_final(ports, job.id)
    assert "lastLines" not in json.loads(drops.receipt_files["default/r/receipt.json"])


async def test_a_job_without_lines_is_no_defect_in_the_log(
    world: World, drops: Written, caplog: pytest.LogCaptureFixture
) -> None:
    for target in (TARGET, None):
        assert await last_lines(world, drops, {}, target=target) is None
    assert caplog.records == []
