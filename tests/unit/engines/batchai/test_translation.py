"""Batch AI's words in ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from shared.core.engine import OutputFile
from shared.core.errors import NotFound, Transient
from shared.core.job import JobState, Reason
from shared.engines.batchai.code import PLACE, TOKEN, ended_without_code
from shared.engines.batchai.errors import api_errors
from shared.engines.batchai.page import page_of
from shared.engines.batchai.translation import REASONS, observation, output_file, token_of
from shared.engines.codeless import CODELESS


def _job(state: str | None, **info: Any) -> dict[str, Any]:
    properties: dict[str, Any] = {"executionInfo": info} if info else {}
    return {"name": "n", "properties": properties | ({"executionState": state} if state else {})}


_JOBS: list[tuple[dict[str, Any], JobState, Reason | None]] = [
    (_job(None), JobState.QUEUED, None),
    (_job("queued"), JobState.QUEUED, None),
    (_job("running"), JobState.RUNNING, None),
    (_job("terminating"), JobState.RUNNING, None),
    (_job("succeeded", exitCode=0), JobState.SUCCEEDED, None),
    (_job("failed", exitCode=3, errors=[{"code": "JobFailed"}]), JobState.FAILED, Reason.USER),
    (_job("failed", errors=[{"code": "JobTerminated"}]), JobState.CANCELLED, Reason.TERMINATED),
    (_job("failed", errors=[{"code": "JobPreparationFailed"}]), JobState.FAILED, Reason.PREPARATION),
    (_job("failed", errors=[{"code": "JobMaxWallClockTimeReached"}]), JobState.FAILED, Reason.TIMEOUT),
    (_job("failed", errors=[{"code": "BFSMountError"}]), JobState.FAILED, Reason.INFRASTRUCTURE),
    (_job("failed", exitCode=127, errors=[{"code": "MpiNotInstalled"}]), JobState.FAILED, Reason.UNSUPPORTED),
    (_job("failed", exitCode=1, errors=[{"code": "SomethingNew"}]), JobState.FAILED, Reason.USER),
    (_job("failed"), JobState.FAILED, Reason.INFRASTRUCTURE),
]


@pytest.mark.parametrize(("job", "state", "reason"), _JOBS)
def test_what_a_job_says(job: dict[str, Any], state: JobState, reason: Reason | None) -> None:
    view = observation(job)
    assert (view.state, view.reason) == (state, reason)


def test_a_run_that_its_cluster_ends_says_that_it_may_save() -> None:
    why = observation(_job("terminating")).why

    assert why is not None
    assert why.word == "Saving"
    assert observation(_job("running")).why is None


_LOCAL = Path(__file__).parents[4] / "local"
#: The words that the emulator ends a job with, as its source has them; those of nodes are on no job.
_ENDS = "Error|Failed|Installed|NotFound|Container|Deleted|Reached|Terminated"
_CODE = re.compile(rf'"([A-Z]\w+(?:{_ENDS}))"')


def test_each_end_that_the_emulator_gives_has_its_reason() -> None:
    sources = [*(_LOCAL / "nodes").glob("*.py"), *(_LOCAL / "batchai" / "launch").glob("*.py")]
    sources.append(_LOCAL / "batchai" / "state" / "transitions.py")

    codes = {word for file in sources for word in _CODE.findall(file.read_text(encoding="utf-8"))}

    assert len(codes) > 15
    assert {code for code in codes - REASONS.keys() if not code.startswith("NodeSetup")} == set()


@pytest.mark.parametrize("code", REASONS)
def test_the_exit_code_of_a_job_is_that_of_a_command_of_its_own(code: str) -> None:
    view = observation(_job("failed", exitCode=127, errors=[{"code": code}]))
    expected = 127 if code in ("JobFailed", "JobPreparationFailed") else None
    assert (view.exit_code, view.reason) == (expected, REASONS[code])


@pytest.mark.parametrize("code", CODELESS)
def test_an_attempt_without_its_code_has_the_times_of_the_service_which_count(code: int) -> None:
    """What a preparation ends with is in reach of the job's image and mounts."""
    times = {"startTime": "2018-05-01T10:00:00Z", "endTime": "2018-05-01T12:00:00Z"}
    job = _job("failed", exitCode=code, errors=[{"code": "JobPreparationFailed"}], **times)
    job["properties"]["environmentVariables"] = [{"name": PLACE, "value": "x"}]

    end = ended_without_code(job, observation(job))

    assert end.state is JobState.FAILED
    assert end.unstarted is CODELESS[code].is_unstarted
    assert not end.used_nothing
    assert (end.ended or end.started) != end.started


@pytest.mark.parametrize("job", [job for job, _, _ in _JOBS])
def test_a_page_holds_all_that_is_looked_at(job: dict[str, Any]) -> None:
    times = {"startTime": "2018-05-01T10:00:00Z", "endTime": "2018-05-01T10:00:05Z"}
    info = times | job["properties"].get("executionInfo", {})
    more = {"provisioningState": "failed", "executionInfo": info, "nodeCount": 1, "cluster": {}}
    more["jobOutputDirectoryPathSegment"] = "s/jobs/n/1"
    job = {"name": "n", "properties": job["properties"] | more}

    (only,) = page_of(json.dumps({"value": [job]}).encode())["value"]

    assert observation(only) == observation(job)
    assert "cluster" not in only["properties"]


_OURS = {"name": TOKEN, "value": "t"}
_THEIRS = {"name": "A", "value": "1"}


@pytest.mark.parametrize(
    "variables",
    [
        [_OURS],
        [_OURS, _THEIRS],
        [_THEIRS, _OURS],
        [_THEIRS, {"name": "B"}, _OURS],
        [_THEIRS],
        [{"value": "t"}, _OURS],
        [{}],
        [],
        None,
    ],
)
def test_a_page_holds_the_token_wherever_the_service_lists_it(variables: Any) -> None:
    one = _job("running")
    job = {"name": "n", "properties": one["properties"] | {"environmentVariables": variables}}

    jobs = page_of(json.dumps({"value": [_job("queued"), {"name": "n"}, job]}).encode())["value"]

    assert token_of(jobs[-1]) == token_of(job) == ("t" if variables and _OURS in variables else None)
    assert observation(jobs[-1]) == observation(job)


def test_of_the_variables_of_our_jobs_only_the_token_is_read() -> None:
    job = {"name": "n", "properties": {"environmentVariables": [_OURS, _THEIRS, _THEIRS]}}

    (only,) = page_of(json.dumps({"value": [job]}).encode())["value"]

    assert list(only["properties"]["environmentVariables"]) == [_OURS, {}, {}]


@pytest.mark.parametrize(
    ("message", "segment"),
    [
        ("s/jobs/n/1", "s/jobs/n/1"),
        ("/s/", "s"),
        ("a/../b", ""),
        ("a\n", ""),
        (1, ""),
        (None, ""),
        ("s" * 2000, ""),
    ],
)
def test_the_folders_of_its_output_are_those_that_the_cluster_names(message: object, segment: str) -> None:
    job = {"name": "n", "properties": {"executionState": "running", "jobOutputDirectoryPathSegment": message}}
    assert observation(job).segment == segment


def test_a_word_that_no_one_knows_decides_nothing() -> None:
    with pytest.raises(Transient, match="hibernating"):
        observation(_job("hibernating"))


def test_errors_are_reported_with_their_details() -> None:
    error = {"code": "X", "message": "no image", "details": [{"name": "imageName", "value": "tf:1"}]}
    assert observation(_job("failed", errors=[error])).message == "X: no image (imageName: tf:1)"


def test_a_failed_provisioning_is_a_failed_job() -> None:
    job = {"name": "n", "properties": {"provisioningState": "failed"}}
    assert observation(job).state is JobState.FAILED


def test_the_token_is_found_in_the_environment() -> None:
    job = {"properties": {"environmentVariables": [{"name": "A"}, {"name": "SLIPWAY_TOKEN", "value": "t"}]}}
    assert token_of(job) == "t"
    assert token_of({}) is None


def test_a_time_without_a_zone_is_in_utc() -> None:
    view = observation(_job("succeeded", startTime="2018-05-01T10:00:00", endTime="2018-05-01T10:00:05Z"))

    assert view.started is not None
    assert view.ended is not None
    assert (view.ended - view.started).total_seconds() == 5


def test_a_time_or_an_exit_code_that_is_none_is_left_out() -> None:
    view = observation(_job("failed", exitCode="boom", startTime=5, endTime="yesterday"))

    assert (view.state, view.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert (view.exit_code, view.started, view.ended) == (None, None, None)


async def test_a_directory_that_a_job_does_not_have_is_not_found_and_no_silence() -> None:
    error = HttpResponseError(message="Bad Request")
    error.status_code = 400
    error.error = SimpleNamespace(code="OutputDirectoryNotFound", message="is not present")  # type: ignore[assignment]

    with pytest.raises(NotFound, match="is not present"):
        async with api_errors():
            raise error


def left_out(name: str, kind: str) -> OutputFile:
    return OutputFile(name, None, None, left_out=True, kind=kind)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ({"name": "stdout.txt", "downloadUrl": "https://a"}, OutputFile("stdout.txt", 7, None)),
        (
            {"name": "unusual\u00a0space", "downloadUrl": "https://a"},
            OutputFile("unusual\u00a0space", 7, None),
        ),
        ({"name": "models", "fileType": "directory"}, OutputFile("models", None, None)),
        ({"name": "odd\u200b.txt", "downloadUrl": "https://a"}, left_out("odd\\u200b.txt", "file")),
        ({"name": "a\\b", "downloadUrl": "https://a"}, left_out("a\\\\b", "file")),
        ({"name": "odd\u200b", "fileType": "directory"}, left_out("odd\\u200b", "directory")),
        ({"name": "linked"}, left_out("linked", "file")),
        ({"name": "pipe", "properties": None}, left_out("pipe", "other")),
        ({"name": "pipe\u200b", "properties": None}, left_out("pipe\\u200b", "other")),
    ],
)
def test_what_cannot_be_asked_for_is_listed_as_left_out(file: dict[str, Any], expected: OutputFile) -> None:
    assert output_file({"fileType": "file", "properties": {"contentLength": 7}, **file}) == expected
