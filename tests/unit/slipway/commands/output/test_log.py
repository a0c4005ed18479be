"""`slipway log`: runs that are not mixed, and what is said beside the log."""

import io
from collections.abc import Sequence
from typing import Any

import pytest

from slipway.client.service import LogPart, Missing, Service
from slipway.commands.output.log import exit_code, read, remark
from slipway.failure import Failure


class Told(Service):
    """An API that says one thing of the job after another, and has the log of its present run."""

    def __init__(self, jobs: Sequence[dict[str, Any]], logs: dict[int, bytes]) -> None:
        self._jobs = list(jobs)
        self._logs = logs
        self._now: dict[str, Any] = {}

    async def job(self, job_id: str) -> dict[str, Any]:
        self._now = self._jobs.pop(0) if len(self._jobs) > 1 else self._jobs[0]
        return self._now

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogPart:
        run = sum(entry["state"] == "queued" for entry in self._now["history"])
        if run not in self._logs:
            raise Missing("there is no log yet")
        data = self._logs[run][offset:]
        return LogPart(data, offset + len(data), more=bool(data), file="stdout.txt")


def job(*states: str, **members: Any) -> dict[str, Any]:
    history = [{"sequence": number, "state": state} for number, state in enumerate(states, 1)]
    return {"id": "j_1", "state": states[-1], "attempt": 1, "history": history, **members}


async def test_a_run_after_a_preemption_is_read_from_its_beginning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    again = ("queued", "running", "queued", "running")
    api = Told(
        [job("queued"), job(*again[:2]), job(*again[:2]), job(*again), job(*again, "succeeded")],
        {1: b"first run\n", 2: b"the second run\n"},
    )
    out = io.BytesIO()

    code = await read(api, "j_1", "", out, follow=True, every=0)

    assert out.getvalue() == b"first run\nthe second run\n"
    assert "j_1 begins anew" in capsys.readouterr().err
    assert code == 0


async def test_following_a_job_that_fails_returns_1_and_names_its_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = job("queued", "running", "failed", exitCode=3)

    code = await read(Told([failed], {1: b""}), "j_1", "", io.BytesIO(), follow=True, every=0)

    assert code == 1
    assert capsys.readouterr().err == "slipway: failed, exit code 3; see --file stderr.txt\n"


async def test_a_job_that_waits_has_written_nothing_yet(capsys: pytest.CaptureFixture[str]) -> None:
    assert await read(Told([job("accepted")], {}), "j_1", "", io.BytesIO(), follow=False) == 0
    assert capsys.readouterr().err == "slipway: accepted: nothing written yet\n"


async def test_a_rejected_job_names_the_command_that_shows_its_problems() -> None:
    with pytest.raises(Failure, match="slipway show j_1"):
        await read(Told([job("rejected")], {}), "j_1", "", io.BytesIO(), follow=True)


async def test_a_job_that_was_cancelled_before_it_ran_is_no_failure_to_read() -> None:
    assert await read(Told([job("cancelled")], {}), "j_1", "", io.BytesIO(), follow=False) == 0


def test_a_log_that_was_read_needs_no_remark_but_that_of_a_failure() -> None:
    assert remark(job("running"), "stdout.txt", written=True) == ""
    assert remark(job("succeeded"), "stdout.txt", written=True) == ""
    assert remark(job("failed"), "stderr.txt", written=True) == "failed"
    assert remark(job("failed"), "stdout-0.txt", written=True) == "failed; see --file stderr-0.txt"


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
