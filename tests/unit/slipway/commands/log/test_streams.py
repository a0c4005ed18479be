"""`slipway log`: both streams of every process, in the order in which they arrive, and every attempt."""

import io
from collections import Counter
from typing import Any

import pytest

from slipway.client.calls.answers import LogChunk
from slipway.client.calls.refusal import Absent
from slipway.client.jobs.lines import Printer
from slipway.client.jobs.log import read
from slipway.client.jobs.selection import Selection
from slipway.client.service import Service
from slipway.failure import Failure

ENDED = ("queued", "running", "succeeded")
#: What each file has at each look, and when it was written.
Looks = dict[str, list[bytes]]


def a_job(*states: str, attempt: int = 1, **members: Any) -> dict[str, Any]:
    history = [{"sequence": number, "state": state} for number, state in enumerate(states, 1)]
    one = {"id": "j_1", "state": states[-1], "attempt": attempt, "history": history, "engine": {}}
    return one | members


class Growing(Service):
    """A job whose files grow from one look to the next, with the files of its earlier attempts."""

    def __init__(self, jobs: list[dict[str, Any]], *attempts: Looks) -> None:
        self._jobs, self._attempts = jobs, attempts
        self._looks = [-1]
        #: the requests of each look
        self.calls = list[Counter[str]]()
        self.times: dict[str, str] = {}

    async def job(self, job_id: str) -> Any:
        self._looks[0] += 1
        self.calls.append(Counter(job=1))
        return self._now

    @property
    def _now(self) -> dict[str, Any]:
        return self._jobs[min(self._looks[0], len(self._jobs) - 1)]

    def _files(self) -> dict[str, bytes]:
        number = self.attempt or self._now["attempt"]
        if number > len(self._attempts):
            raise Absent("no node has started the job")
        looks = self._attempts[number - 1]
        return {name: held[min(self._looks[0], len(held) - 1)] for name, held in looks.items()}

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        self.calls[-1]["list"] += 1
        return [
            {"name": name, "bytes": len(data), "modified": self.times.get(name)}
            for name, data in self._files().items()
        ]

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        self.calls[-1]["read"] += 1
        data = self._files()[file][offset:]
        return LogChunk(data, offset + len(data), more=bool(data), file=file)


async def both(service: Service, selection: Selection | None = None, **how: Any) -> tuple[str, str, int]:
    """What standard output and error have, and the exit code."""
    out, err = io.BytesIO(), io.BytesIO()
    printer = Printer(out, errors=Printer(err))
    code = await read(
        service, "j_1", selection or Selection(), printer, **{"follow": False, "every": 0, **how}
    )
    return out.getvalue().decode(), err.getvalue().decode(), code


async def test_a_pipe_has_each_stream_of_one_process_as_it_is() -> None:
    files: Looks = {"stdout.txt": [b"a\nno end"], "stderr.txt": [b"warning\n"], "execution.log": [b"x\n"]}
    assert await both(Growing([a_job(*ENDED)], files)) == ("a\nno end", "warning\n", 0)


@pytest.mark.parametrize(
    ("stream", "out", "err"),
    [
        ("", "0 | a\n1 | b\n", "0 ! A\n1 ! B\n"),
        ("stdout", "0 | a\n1 | b\n", ""),
        ("stderr", "0 | A\n1 | B\n", ""),
    ],
)
async def test_a_line_of_standard_error_is_marked_beside_its_rank(stream: str, out: str, err: str) -> None:
    files: Looks = {
        "stderr-1.txt": [b"B\n"], "stderr-0.txt": [b"A\n"], "stdout-1.txt": [b"b\n"], "stdout-0.txt": [b"a\n"]
    }  # fmt: skip
    service = Growing([a_job(*ENDED)], files)
    assert await both(service, Selection(stream=stream)) == (out, err, 0)


async def test_what_arrives_is_printed_in_the_order_in_which_it_was_written() -> None:
    files: Looks = {"stdout.txt": [b"1\n", b"1\n3\n"], "stderr.txt": [b"", b"2\n"]}
    service = Growing([a_job(*ENDED[:2]), a_job(*ENDED)], files)
    service.times = {"stdout.txt": "2026-01-01T00:00:03Z", "stderr.txt": "2026-01-01T00:00:02Z"}
    out = io.BytesIO()
    assert await read(service, "j_1", Selection(), Printer(out), follow=True, every=0) == 0
    assert out.getvalue() == b"1\n2\n3\n"


@pytest.mark.parametrize("processes", [1, 2, 16])
async def test_a_look_costs_one_list_and_one_read_for_each_file_that_grew(processes: int) -> None:
    looks = [a_job(*ENDED[:2])] * 4 + [a_job(*ENDED)]
    files: Looks = {"execution.log": [b"x"]}
    for rank in range(processes):
        files[f"stdout-{rank}.txt"] = [b"", b"a\n", b"a\n", b"a\nb\n"]
        files[f"stderr-{rank}.txt"] = [b"", b"", b"", b"e\n"]
    service = Growing(looks, files)
    await both(service, follow=True)
    grown = [0, processes, 0, 2 * processes]
    assert [one["read"] for one in service.calls[:4]] == grown
    assert {(one["job"], one["list"]) for one in service.calls} == {(1, 1)}
    assert service.calls[4]["read"] <= 2 * 2 * processes, "at the end, each is read once more"


@pytest.mark.parametrize("written", [[], ["stdout.txt"], ["stderr.txt"], ["stdout-job_prep.txt"]])
@pytest.mark.parametrize("stream", ["", "stdout", "stderr"])
async def test_nothing_was_written_is_said_where_nothing_was(
    written: list[str], stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("stdout.txt", "stderr.txt", "stdout-job_prep.txt", "stderr-job_prep.txt")
    files: Looks = {name: [b"text\n" if name in written else b""] for name in names}
    out, err, _ = await both(Growing([a_job(*ENDED)], files), Selection(stream=stream))
    remarks = capsys.readouterr().err
    assert bool(out or err) is any(name.startswith(stream) for name in written)
    where = {"": "", "stdout": " to standard output", "stderr": " to standard error"}[stream]
    assert remarks == ("" if out or err else f"slipway: succeeded: nothing was written{where}\n")


async def test_a_job_is_followed_through_its_attempts(capsys: pytest.CaptureFixture[str]) -> None:
    history = [
        {"sequence": 1, "state": "queued", "attempt": 1},
        {"sequence": 2, "state": "running", "attempt": 1},
        {"sequence": 3, "state": "accepted", "attempt": 2, "note": "attempt 1 failed: exit code 3"},
    ]
    waits = a_job("accepted", attempt=2)
    del waits["engine"]
    jobs = [a_job("running", history=history[:2]), waits | {"history": history}, waits | {"history": history}]
    jobs += [a_job("succeeded", attempt=2, history=[*history, {"sequence": 4, "state": "queued"}])]
    first: Looks = {"stdout.txt": [b"one\n"], "stderr.txt": [b"", b"Traceback"]}
    service = Growing(jobs, first, {"stdout.txt": [b"", b"", b"", b"two\n"]})
    assert await both(service, follow=True) == ("one\ntwo\n", "Traceback", 0)
    assert "j_1: attempt 1 failed: exit code 3; what follows is attempt 2" in capsys.readouterr().err


async def test_an_attempt_that_ends_while_it_is_read_is_read_to_its_end() -> None:
    class Ending(Growing):
        """The attempt ends right after the job was looked at, so the current one has no files yet."""

        async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
            if self._looks[0] == 0 and not self.attempt:
                raise Failure("the job is accepted in attempt 2, so no node has run it")
            return await super().files(job_id, directory, path)

    jobs = [a_job("running"), a_job("succeeded", attempt=2)]
    service = Ending(jobs, {"stdout.txt": [b"one\n"]}, {"stdout.txt": [b"", b"two\n"]})
    assert await both(service, follow=True) == ("one\ntwo\n", "", 0)


@pytest.mark.parametrize("attempt", [0, 1, 2, 3])
async def test_each_attempt_has_its_log(attempt: int, capsys: pytest.CaptureFixture[str]) -> None:
    attempts: list[Looks] = [{"stderr.txt": [f"error {number}\n".encode()]} for number in (1, 2, 3)]
    service = Growing([a_job("failed", attempt=3)], *attempts)
    assert await both(service, Selection(attempt=attempt)) == ("", f"error {attempt or 3}\n", 0)
    before = "slipway: failed; the attempt before: slipway log j_1 --attempt 2\n"
    assert capsys.readouterr().err == (before if attempt in (0, 3) else "")


async def test_an_attempt_of_a_job_that_is_followed_cannot_be_meant() -> None:
    with pytest.raises(Failure, match="followed through its attempts"):
        await both(Growing([a_job("running")], {}), Selection(attempt=1), follow=True)
