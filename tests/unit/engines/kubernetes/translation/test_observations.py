"""One attempt as its Job, pods and record show it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.core.engine import Why
from shared.core.job import JobState, Reason
from shared.engines.kubernetes.translation.observations import CANCELLED, Evidence, observation
from shared.engines.kubernetes.translation.silence import GIVEN_UP, LOST_AFTER, WHY
from tests.unit.engines.kubernetes.translation.cluster import CREATED, ENDED, job, mark, pod, stopped

NOW = datetime(2026, 11, 22, 2, 49, 30, tzinfo=UTC)
LATER = NOW + LOST_AFTER
REQUEST = {CANCELLED: "2026-11-22T02:48:55Z"}
FINAL = {"final": True, "reason": "", "exitCode": 0}


def state_of(document: Any, *pods: Any, record: Any = None, now: datetime = NOW) -> JobState:
    return observation(Evidence(document, pods, record), now).state


@pytest.mark.parametrize(
    ("document", "pods", "state"),
    [
        (job(), [], JobState.QUEUED),
        (job(active=1), [pod("Pending")], JobState.QUEUED),
        (job(mark("Suspended", "JobSuspended")), [], JobState.QUEUED),
        (job(active=1), [pod("Running", running={"startedAt": CREATED})], JobState.RUNNING),
        (job(active=2, ready=1), [], JobState.RUNNING),
        (job(active=1, succeeded=1), [pod("Pending"), pod("Succeeded")], JobState.RUNNING),
        (job(mark("Suspended", "JobSuspended"), terminating=1), [pod("Running")], JobState.RUNNING),
        (job(mark("FailureTarget"), terminating=1), [pod("Running")], JobState.RUNNING),
        (job(mark("Complete")), [], JobState.SUCCEEDED),
    ],
)
def test_a_job_and_its_pods_are_in_one_state(document: Any, pods: Any, state: JobState) -> None:
    assert state_of(document, *pods) is state


@pytest.mark.parametrize(
    ("marks", "pods", "record", "state"),
    [
        ((), [pod("Running"), pod("Pending"), pod("Running")], None, JobState.QUEUED),
        ((), [pod("Running"), pod("Running")], None, JobState.QUEUED),
        ((), [pod("Running"), pod("Running"), pod("Running")], None, JobState.RUNNING),
        # It has begun, and one of its pods is gone, has ended or is ending.
        ((), [pod("Running"), pod("Running")], {"final": False, "state": "running"}, JobState.RUNNING),
        ((), [pod("Running"), pod("Failed")], None, JobState.RUNNING),
        ((), [pod("Running"), pod("Succeeded")], None, JobState.RUNNING),
        ((), [pod("Running"), pod("Running", deleted=ENDED)], None, JobState.RUNNING),
        ((mark("SuccessCriteriaMet"),), [pod("Running"), pod("Running")], None, JobState.RUNNING),
        ((mark("FailureTarget"),), [pod("Running"), pod("Running")], None, JobState.RUNNING),
    ],
)
def test_ranks_that_wait_for_others_are_queued(marks: Any, pods: Any, record: Any, state: JobState) -> None:
    document = job(*marks, active=3) | {"spec": {"completions": 3}}

    assert state_of(document, *pods, record=record) is state


def test_one_that_waits_says_why_and_one_that_runs_since_when() -> None:
    why = Why("Unschedulable", "no node")
    waiting = observation(Evidence(job(active=1), [pod("Pending")], why=why), NOW)
    running = observation(Evidence(job(active=1), [pod("Running", running={"startedAt": CREATED})]), NOW)

    assert (waiting.why, waiting.started) == (why, None)
    assert (running.why, running.started) == (None, datetime(2026, 11, 22, 2, 48, 40, tzinfo=UTC))


def test_one_that_is_evicted_says_until_when_it_may_save() -> None:
    started = {"startedAt": CREATED}
    evicted = pod("Running", deleted="2026-11-22T02:50:00Z", running=started)
    others = [
        (evicted, None, "its cluster ends this run, and it may save until 02:50:00 UTC"),
        (evicted, FINAL, None),
        (pod("Succeeded", deleted="2026-11-22T02:50:00Z"), None, None),
    ]

    for one, record, text in others:
        view = observation(Evidence(job(active=1), [one, pod("Running", running=started)], record), NOW)
        assert (view.why.text if view.why else None) == text


def test_a_run_that_wrote_its_end_runs_until_the_job_says_so() -> None:
    assert state_of(job(active=1), pod("Running"), record=FINAL) is JobState.RUNNING
    assert state_of(job(mark("Complete")), record=FINAL) is JobState.SUCCEEDED


def test_a_cancelled_job_is_over_when_its_pods_are_gone() -> None:
    suspended = mark("Suspended", "JobSuspended")

    assert state_of(job(suspended, annotations=REQUEST, terminating=1), pod("Running")) is JobState.RUNNING
    assert state_of(job(annotations=REQUEST), pod("Running")) is JobState.RUNNING, "an old server counts none"
    assert state_of(job(annotations=REQUEST, active=1)) is JobState.QUEUED
    end = observation(Evidence(job(suspended, annotations=REQUEST)), NOW)
    assert (end.state, end.reason) == (JobState.CANCELLED, Reason.TERMINATED)


def test_a_cancelled_job_whose_program_wrote_its_end_is_over_when_its_pods_are_gone() -> None:
    record = {**FINAL, "reason": "terminated"}

    assert state_of(job(annotations=REQUEST), pod("Running"), record=record) is JobState.RUNNING
    assert state_of(job(annotations=REQUEST), record=record) is JobState.CANCELLED
    assert state_of(job(annotations=REQUEST), record=FINAL) is JobState.SUCCEEDED


def test_a_cancelled_job_whose_program_was_ended_before_its_command_was_cancelled() -> None:
    record = {**FINAL, "reason": "infrastructure", "ended": "2026-11-22T03:30:00Z"}
    failed = mark("Failed", "BackoffLimitExceeded")

    assert state_of(job(annotations=REQUEST), record=record) is JobState.CANCELLED
    assert state_of(job(failed, annotations=REQUEST), record=record) is JobState.CANCELLED
    before = {**record, "ended": "2026-11-22T01:00:00Z"}
    assert state_of(job(failed, annotations=REQUEST), record=before) is JobState.FAILED


def test_one_whose_program_was_asked_to_end_by_slipway_was_cancelled_and_by_its_node_failed() -> None:
    record = {"state": "ended", "final": False, "reason": "terminated"}
    failed, ranks = mark("Failed", "BackoffLimitExceeded"), pod("Failed", terminated=stopped(143))

    assert state_of(job(failed, annotations=REQUEST), ranks, record=record) is JobState.CANCELLED
    assert state_of(job(failed), ranks, record=record) is JobState.FAILED


def test_one_that_failed_after_it_was_cancelled_was_cancelled_and_before_it_failed() -> None:
    failed = mark("Failed", "BackoffLimitExceeded")
    early = {CANCELLED: "2026-11-22T02:49:10Z"}

    assert (
        state_of(job(failed, annotations=REQUEST), pod("Failed", terminated=stopped(143)))
        is JobState.CANCELLED
    )
    assert state_of(job(failed, annotations=early), pod("Failed", terminated=stopped(3))) is JobState.FAILED
    assert state_of(job(mark("Complete"), annotations=REQUEST)) is JobState.SUCCEEDED
    assert state_of(job(failed, annotations=REQUEST), record={**FINAL, "reason": "user"}) is JobState.FAILED


@pytest.mark.parametrize(
    ("document", "pods"),
    [
        (job(mark("FailureTarget"), terminating=1), []),
        (job(terminating=1), [pod("Running", deleted=ENDED)]),
        (job(active=1), [pod("Running", deleted=ENDED)]),
    ],
)
def test_a_job_on_a_dead_node_ends_after_a_bounded_time(document: Any, pods: Any) -> None:
    assert state_of(document, *pods) in (JobState.RUNNING, JobState.QUEUED)
    end = observation(Evidence(document, pods), LATER)
    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert "does not answer" in end.message
    assert not end.unstarted, "it may have run"
    assert state_of(document, *pods, record=FINAL, now=LATER) is JobState.SUCCEEDED
    document["metadata"]["annotations"] = REQUEST
    assert state_of(document, *pods, now=LATER) is JobState.CANCELLED


@pytest.mark.parametrize(("why", "state"), [("", JobState.RUNNING), ("no image", JobState.QUEUED)])
def test_what_was_given_up_and_may_be_resumed_is_not_in_its_queue_again(why: str, state: JobState) -> None:
    document = job(annotations={GIVEN_UP: "2026-11-22T02:48:55Z", **({WHY: why} if why else {})})
    evidence = Evidence(document, [], is_held=False)

    assert observation(evidence, NOW).state is state
    end = observation(replace(evidence, is_held=True), NOW)
    assert (end.state, end.reason) == (JobState.FAILED, Reason.UNSUPPORTED if why else Reason.INFRASTRUCTURE)


def test_one_that_runs_for_long_hangs_nowhere() -> None:
    assert state_of(job(active=1), pod("Running"), now=NOW + timedelta(days=9)) is JobState.RUNNING
