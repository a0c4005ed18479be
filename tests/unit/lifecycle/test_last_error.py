"""Why a job failed: a line of its own standard error, in its record, its lists and its event."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.errors import Busy, NotFound, Transient
from shared.core.job import Job, JobState, Reason
from shared.core.ledger.listing import Query
from shared.core.view import line
from shared.lifecycle.exit_codes import with_meaning
from tests.unit.world import World, job_json

ROOT = Path(__file__).resolve().parents[3]
HOOK = {"url": "https://hooks.example.com/slipway"}
STDERR = b"Traceback (most recent call last):\nValueError: the key is storage-key, not s3cret\x07!\n"
LAST_ERROR = "ValueError: the key is ***, not *** !"


def break_files(world: World, error: Exception) -> None:
    """No file of a job can be read: its list hangs, for a TimeoutError, or is refused with another error."""
    if isinstance(error, TimeoutError):
        world.engine.hangs.add("files")
    else:
        world.engine.refuses["files"] = error


def looks(world: World) -> tuple[int, int]:
    """How often the files of jobs were listed and read."""
    return world.engine.times("files"), world.engine.times("read")


async def ended(world: World, state: JobState = JobState.FAILED, **how: Any) -> Job:
    """The record of a job with a secret value and a receiver, after its end."""
    secret = [{"name": "TOKEN", "value": "s3cret"}]
    await world.message({"spec": job_json(secrets=secret), "notify": [HOOK]})
    world.engine.output = {"stderr.txt": STDERR}
    world.engine.set_state(world.engine.started[0], state, **{"reason": Reason.USER, "exit_code": 1, **how})
    await world.make_pass()
    return world.ledger.jobs[0]


async def test_record_list_and_event_have_the_line_without_secrets(world: World) -> None:
    job = await ended(world)

    assert job.state is JobState.FAILED
    assert job.last_error == LAST_ERROR
    assert line(job)["lastError"] == LAST_ERROR
    (_, _, body) = world.webhooks.posts[0]
    assert json.loads(body)["data"]["lastError"] == LAST_ERROR
    page = await world.ledger.find(Query(), limit=1, after=None)
    assert page.jobs[0].last_error == LAST_ERROR


async def test_a_failure_costs_a_list_and_a_read_and_the_receipt_as_much_again(
    world: World,
) -> None:
    await ended(world)
    assert looks(world) == (2, 2)
    await world.make_pass()
    assert looks(world) == (2, 2)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (JobState.SUCCEEDED, None),
        (JobState.CANCELLED, Reason.TERMINATED),
        (JobState.FAILED, Reason.TIMEOUT),
        (JobState.FAILED, Reason.INFRASTRUCTURE),
    ],
)
async def test_of_an_end_that_is_not_the_jobs_own_fault_nothing_is_read_for_the_record(
    world: World, state: JobState, reason: Reason | None
) -> None:
    world.policy(receipts=False)
    job = await ended(world, state, reason=reason)
    assert (job.last_error, looks(world)) == ("", (0, 0))


@pytest.mark.parametrize(
    "error", [NotFound("there is none"), Transient("no answer"), TimeoutError(), ValueError("of the adapter")]
)
async def test_a_log_that_cannot_be_read_keeps_no_end(world: World, error: Exception) -> None:
    world.policy(receipts=False, last_error_patience=0.01)
    break_files(world, error)
    job = await ended(world)
    assert (job.state, job.last_error) == (JobState.FAILED, "")


@pytest.mark.parametrize(
    ("error", "lists"),
    [(Transient("no answer"), 5), (Busy("of one record"), 12), (TimeoutError("many files of one job"), 12)],
)
async def test_files_that_cannot_be_reached_are_left_alone_after_some_failures_and_the_cluster_is_not(
    world: World, error: Exception, lists: int
) -> None:
    world.policy(receipts=False, last_error_patience=0.01)
    break_files(world, error)
    for number in range(12):
        await world.message({"spec": job_json(), "notify": [HOOK]}, f"m{number}")
        world.engine.set_state(world.engine.started[-1], JobState.FAILED, reason=Reason.USER)
        await world.make_pass(1)

    assert looks(world)[0] == lists
    assert {job.state for job in world.ledger.jobs} == {JobState.FAILED}


async def test_a_document_that_cannot_be_read_shows_no_line_with_its_secrets(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.message({"spec": job_json(), "notify": [HOOK]})
    world.engine.output = {"stderr.txt": STDERR}
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)
    key = next(key for key in world.ledger.rows if key[1].startswith("s|"))
    world.ledger.rows[key]["Spec0"] = "{"
    await world.make_pass()
    (job,) = world.ledger.jobs
    assert (job.state, job.last_error) == (JobState.FAILED, "")


async def test_a_receipt_leaves_files_alone_that_do_not_answer_too(
    world: World,
) -> None:
    break_files(world, Transient("no answer"))
    for number in range(12):
        await world.message({"spec": job_json(), "notify": [HOOK]}, f"m{number}")
        world.engine.set_state(world.engine.started[-1], JobState.FAILED, reason=Reason.USER)
        await world.make_pass(1)

    assert looks(world)[0] == 5
    assert all("lastLines" not in world.receipt(job) for job in world.ledger.jobs)


# What an exit code says

FAILED = "Job failed with non-zero exit code"


def _end(code: int | None, message: str = FAILED, reason: Reason = Reason.USER) -> Observation:
    return Observation(JobState.FAILED, reason, message, code)


@pytest.mark.parametrize(
    ("code", "word"),
    [(137, "memory"), (139, "crashed (signal 11)"), (143, "asked to end (signal 15)"), (127, "not found")],
)
def test_a_code_is_explained(code: int, word: str) -> None:
    assert word in with_meaning(_end(code)).message
    assert with_meaning(with_meaning(_end(code))) == with_meaning(_end(code))
    assert with_meaning(_end(code, "")).message.startswith("the job failed: ")


def test_each_code_that_is_explained_is_on_its_page() -> None:
    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text()
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    explained = {code for code in range(256) if with_meaning(_end(code)) != _end(code)}

    assert {137, 143} <= explained <= rows


@pytest.mark.parametrize(
    "end",
    [
        _end(1),
        _end(None),
        _end(137, "ended by the cluster: it used more memory than its limit (OOMKilled)"),
        _end(137, f"{FAILED}: killed (signal 9), usually because it used more memory than there is"),
        _end(143, "preempted", Reason.PREEMPTED),
        Observation(JobState.SUCCEEDED, exit_code=0),
    ],
)
def test_what_the_engine_says_stays(end: Observation) -> None:
    assert with_meaning(end) is end
