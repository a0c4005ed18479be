"""The receipt, the diagnostics and STATUS to the letter, as they follow from a record."""

from __future__ import annotations

import json
from typing import Any

import pytest

import shared
from shared.core.job import Drop, Job, JobState, Reason, Waiting
from shared.core.messages import digest
from shared.delivery.receipt import (
    LastLines,
    attempts,
    diagnostics,
    diagnostics_json,
    outputs,
    receipt,
    status,
    status_line,
)
from tests.unit.recorded import DROP, ID, NOON, TARGET, at, job_of, spec

PROBLEM = {
    "code": "SW001",
    "severity": "error",
    "pointer": "",
    "message": "größer als erlaubt",
    "remedy": "kürzen",
}


# receipt.json


def test_a_receipt_is_json_for_people_too() -> None:
    job = job_of(message="größer")
    text = receipt(job, None).decode()
    assert text.startswith('{\n  "id": "')
    assert text.endswith("\n}\n")
    assert "größer" in text


def test_a_receipt_says_which_versions_made_it_and_names_an_engine_only_where_one_spoke() -> None:
    without = {"slipway": shared.__version__, "format": "2018-05-01"}
    assert json.loads(receipt(job_of(), None))["versions"] == without
    assert json.loads(receipt(job_of(), None, engine="slurm v0.0.41"))["versions"] == {
        **without,
        "engine": "slurm v0.0.41",
    }


def test_a_rejected_document_has_neither_attempts_nor_nodes_nor_outputs() -> None:
    job = job_of((0, JobState.REJECTED), ended=NOON)
    document = json.loads(receipt(job, spec()))
    assert document.keys().isdisjoint(
        {"attempts", "nodes", "nodeHours", "outputs", "waitedSeconds", "lastLines"}
    )
    assert document["accepted"] == spec()


def test_what_was_accepted_stands_in_the_receipt_with_its_digest_and_without_its_secrets() -> None:
    document = json.loads(receipt(job_of(), spec(secrets=[{"name": "TOKEN", "value": "canary-5"}])))
    assert document["spec"] == {"sha256": digest(document["accepted"])}
    assert "canary-5" not in str(document)
    assert document["nodes"] == 2
    assert "outputs" not in document  # no cluster was chosen, so nothing can have been written
    assert json.loads(receipt(job_of(target=TARGET), spec()))["outputs"][0]["path"] == "$R/logs"


@pytest.mark.parametrize("document", [None, {}], ids=["lost", "empty"])
def test_without_its_document_a_receipt_says_what_the_record_says(document: dict[str, Any] | None) -> None:
    result = json.loads(receipt(job_of(target=TARGET), document))
    assert result["state"] == "succeeded"
    assert result.keys().isdisjoint({"accepted", "spec", "nodes", "outputs"})


def test_the_last_lines_stand_with_their_file() -> None:
    document = json.loads(receipt(job_of(), None, last=LastLines("stderr.txt", ("a", "b"))))
    assert document["lastLines"] == {"file": "stderr.txt", "lines": ["a", "b"]}


@pytest.mark.parametrize(
    ("started", "ended", "waited", "ran", "hours"),
    [
        (None, None, None, None, None),
        (None, 30.0, None, None, None),
        (12.34, None, 12.3, None, None),
        (12.34, 112.5, 12.3, 100.2, 0.0556),
        (0.96, 3601.0, 1.0, 3600.0, 2.0),
        # The clocks of a cluster and ours differ.
        (-5.0, -9.0, 0.0, 0.0, 0.0),
    ],
)
def test_what_it_took_is_counted_from_the_start_and_never_negative(
    started: float | None, ended: float | None, waited: float | None, ran: float | None, hours: float | None
) -> None:
    job = job_of(started=None if started is None else at(started), ended=None if ended is None else at(ended))
    document = json.loads(receipt(job, spec()))
    reports = [document.get(name) for name in ("waitedSeconds", "ranSeconds", "nodeHours")]
    assert (reports, document["nodes"]) == ([waited, ran, hours], 2)


@pytest.mark.parametrize("document", [{"id": "x"}, {"properties": None}, spec(nodeCount="two")])
def test_without_a_number_of_nodes_none_is_counted(document: dict[str, Any]) -> None:
    result = json.loads(receipt(job_of(started=NOON, ended=at(60)), document))
    assert result.keys().isdisjoint({"nodes", "nodeHours"})
    assert result["ranSeconds"] == 60


# attempts


def test_one_attempt_tells_when_it_reached_each_state_first() -> None:
    job = job_of(
        (0, JobState.ACCEPTED), (1, JobState.ACCEPTED, 1, None, "waits for room"),
        (2, JobState.SUBMITTING), (3, JobState.QUEUED),
        (4, JobState.RUNNING), (5, JobState.QUEUED, 1, Reason.PREEMPTED, "preempted"), (6, JobState.RUNNING),
        started=at(4.5),
    )  # fmt: skip
    assert attempts(job) == [
        {
            "attempt": 1,
            "name": "n-abcdefghijklmnop-1",
            "state": "running",
            "acceptedAt": "2026-01-01T12:00:00Z",
            "submittingAt": "2026-01-01T12:00:02Z",
            "queuedAt": "2026-01-01T12:00:03Z",
            "runningAt": "2026-01-01T12:00:04.500000Z",
        }
    ]


def test_an_attempt_that_was_retried_ended_where_the_next_began_for_the_reason_given_there() -> None:
    job = job_of(
        (0, JobState.ACCEPTED), (1, JobState.RUNNING),
        (2, JobState.ACCEPTED, 2, Reason.INFRASTRUCTURE, "the node went away"),
        (3, JobState.ACCEPTED, 2, Reason.USER, "waits for room"),
        (4, JobState.RUNNING, 2),
        (5, JobState.ACCEPTED, 3),
        (6, JobState.SUCCEEDED, 3, None, "well done"),
        started=at(5.5), ended=at(5.75),
    )  # fmt: skip
    first, second, third = attempts(job)
    assert first == {
        "attempt": 1,
        "name": "n-abcdefghijklmnop-1",
        "state": "failed",
        "acceptedAt": "2026-01-01T12:00:00Z",
        "runningAt": "2026-01-01T12:00:01Z",
        "endedAt": "2026-01-01T12:00:02Z",
        "reason": "infrastructure",
        "message": "the node went away",
    }
    assert second == {
        "attempt": 2,
        "name": "n-abcdefghijklmnop-2",
        "state": "failed",
        "runningAt": "2026-01-01T12:00:04Z",
        "endedAt": "2026-01-01T12:00:05Z",
    }
    assert third == {
        "attempt": 3,
        "name": "n-abcdefghijklmnop-3",
        "state": "succeeded",
        "runningAt": "2026-01-01T12:00:05.500000Z",
        "endedAt": "2026-01-01T12:00:05.750000Z",
        "message": "well done",
    }


def test_an_end_that_no_engine_dated_is_when_it_was_seen() -> None:
    job = job_of((0, JobState.ACCEPTED), (9, JobState.CANCELLED, 1, Reason.TERMINATED))
    (one,) = attempts(job)
    assert (one["endedAt"], one["reason"]) == ("2026-01-01T12:00:09Z", "terminated")
    assert "runningAt" not in one
    assert "message" not in one


def test_a_history_whose_beginning_is_cut_off_has_the_attempts_that_it_tells_of() -> None:
    job = job_of((0, JobState.RUNNING, 2), attempt=3)
    assert [(one["attempt"], one["state"]) for one in attempts(job)] == [(2, "running")]


# outputs


def test_each_output_directory_says_where_it_is_and_how_it_is_read() -> None:
    directories = [
        {"id": "A", "pathPrefix": "$R/a", "pathSuffix": "x"},
        {"id": "B", "pathPrefix": "$R/b"},
        {"id": "C", "pathPrefix": None, "pathSuffix": "y"},
    ]
    files = f"/api/jobs/{ID}/files?directory="
    written = job_of(segment="sub/jobs/j/1")
    assert outputs(written, spec(outputDirectories=directories)) == [
        {
            "id": "stdouterr",
            "path": "$R/logs/sub/jobs/j/1/stdouterr",
            "log": f"/api/jobs/{ID}/log",
            "files": f"{files}stdouterr",
        },
        {"id": "A", "path": "$R/a/sub/jobs/j/1/outputs/x", "files": f"{files}A"},
        {"id": "B", "path": "$R/b/sub/jobs/j/1/outputs", "files": f"{files}B"},
        {"id": "C", "path": "sub/jobs/j/1/outputs/y", "files": f"{files}C"},
    ]
    paths = [one["path"] for one in outputs(job_of(), spec(outputDirectories=directories))]
    assert paths == ["$R/logs", "$R/a", "$R/b", ""]  # the cluster has not said yet what lies between


@pytest.mark.parametrize("document", [{}, {"properties": None}, {"properties": {"outputDirectories": None}}])
def test_a_document_that_names_no_place_has_its_standard_streams_alone(document: dict[str, Any]) -> None:
    (one,) = outputs(job_of(), document)
    assert (one["id"], one["path"]) == ("stdouterr", "")


# Diagnostics


@pytest.mark.parametrize(("drop", "file"), [(DROP, "digits/job.json"), (None, "message")])
def test_diagnostics_say_in_which_file_the_problem_is(drop: Drop | None, file: str) -> None:
    job = job_of((0, JobState.REJECTED), message="invalid", problems=(PROBLEM,), drop=drop)
    text = diagnostics(job).decode()
    assert text.startswith(f"invalid.\n\n{file}: error SW001: größer als erlaubt\n    kürzen")


def test_diagnostics_for_programs_are_what_validation_answers() -> None:
    job = job_of((0, JobState.REJECTED), message="invalid", problems=(PROBLEM,))
    body = diagnostics_json(job).decode()
    assert body == json.dumps(json.loads(body), indent=2, ensure_ascii=False) + "\n"
    assert json.loads(body) == {"valid": False, "job": ID, "problems": [PROBLEM], "notes": []}


# STATUS


def _line(words: str) -> bytes:
    return words.format(id=ID).encode() + b"\n"


WAITING = Waiting(word="Resources", text="for two nodes", since=NOON)


@pytest.mark.parametrize(
    ("job", "line"),
    [
        (job_of((3, JobState.QUEUED)), "queued 2026-01-01T12:00:03Z {id}"),
        (job_of((3, JobState.QUEUED), waiting=WAITING), "queued 2026-01-01T12:00:03Z {id}: for two nodes"),
        (job_of((0, JobState.QUEUED), (3, JobState.QUEUED)), "queued 2026-01-01T12:00:00Z {id}"),
        (job_of((3, JobState.SUBMITTING)), "accepted 2026-01-01T12:00:03Z {id}"),
        (job_of((3, JobState.SUCCEEDED)), "succeeded 2026-01-01T12:00:03Z {id}"),
        (job_of((3, JobState.SUCCEEDED), ended=at(2)), "succeeded 2026-01-01T12:00:02Z {id}"),
        (job_of((3, JobState.SUCCEEDED), exit_code=0), "succeeded 2026-01-01T12:00:03Z {id}: exit code 0"),
        (job_of((3, JobState.LOST), message="gone"), "lost 2026-01-01T12:00:03Z {id}: gone"),
        (
            job_of((3, JobState.FAILED), exit_code=9, reason=Reason.USER, message="killed", waiting=WAITING),
            "failed 2026-01-01T12:00:03Z {id}: exit code 9; user; killed",
        ),
    ],
    ids=lambda one: f"{one.state.value}-{one.message}" if isinstance(one, Job) else "",
)
def test_status_says_where_the_job_is_and_how_it_ended(job: Job, line: str) -> None:
    assert status(job) == _line(line)


def test_a_line_of_status_is_printable_and_of_three_hundred_characters_at_most() -> None:
    assert status_line(ID, JobState.FAILED, NOON, "a\nb\x1b ü  ") == _line(
        "failed 2026-01-01T12:00:00Z {id}: a b  ü"
    )
    assert len(status_line(ID, JobState.FAILED, NOON, "x" * 900)) == 301
