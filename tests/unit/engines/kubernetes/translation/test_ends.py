"""How a Job ended, and whose fault it was."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.job import JobState, Reason
from shared.engines.kubernetes.translation.ends import ended
from tests.unit.engines.kubernetes.translation.cluster import job, mark, pod, stopped

_RULE = "Container main for pod default/a-0-x failed with exit code {} matching FailJob rule at index 1"
_EVICTION = "Pod default/a-0-x has condition DisruptionTarget matching FailJob rule at index 0"


def policy(code: int) -> Any:
    return mark("Failed", "PodFailurePolicy", _RULE.format(code))


def test_a_job_that_has_not_ended_has_no_end() -> None:
    waiting = mark("Failed", status="False")

    assert ended(job(active=1), [pod("Running")], None) is None
    assert ended(job(waiting, mark("FailureTarget")), [], {"final": True}) is None


def test_a_job_that_is_complete_succeeded_when_its_pods_ran() -> None:
    end = ended(
        job(mark("Complete", "CompletionsReached")),
        [pod("Succeeded", terminated=stopped(0, "Completed"))],
        None,
    )

    assert end is not None
    assert (end.state, end.exit_code, end.unstarted) == (JobState.SUCCEEDED, 0, False)
    assert end.started == datetime(2026, 11, 22, 2, 48, 40, tzinfo=UTC)
    assert end.ended == datetime(2026, 11, 22, 2, 49, tzinfo=UTC)


def test_the_record_of_a_run_says_more_than_its_job() -> None:
    record = {"final": True, "reason": "timeout", "message": "too long", "exitCode": 124}
    end = ended(job(policy(124)), [], record)

    assert end is not None
    assert (end.state, end.reason, end.message) == (JobState.FAILED, Reason.TIMEOUT, "too long")
    other = ended(job(policy(3)), [], {"final": False, "reason": "timeout"})
    assert other is not None
    assert (other.reason, other.exit_code) == (Reason.USER, 3)


def test_a_run_that_its_node_asked_to_end_is_not_its_authors_fault() -> None:
    open_record = {"state": "ended", "final": False, "reason": "terminated", "code": 143, "exitCode": None}
    end = ended(job(policy(143)), [], open_record)

    assert end is not None
    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.INFRASTRUCTURE, None)
    assert "node" in end.message
    # A command may end by itself with that code, or after another's request with its own.
    for code, record in ((143, None), (143, {"state": "running", "final": False}), (3, open_record)):
        other = ended(job(policy(code)), [], record)
        assert other is not None
        assert (other.reason, other.exit_code) == (Reason.USER, code)


@pytest.mark.parametrize(
    ("failed", "pods", "reason", "code", "words"),
    [
        (policy(3), [], Reason.USER, 3, "exit code 3"),
        (mark("Failed", "BackoffLimitExceeded"), [pod("Failed", terminated=stopped(5))], Reason.USER, 5, "5"),
        (policy(124), [], Reason.TIMEOUT, None, "wall-clock"),
        (policy(251), [], Reason.PREPARATION, 1, "preparation"),
        (policy(243), [], Reason.UNSUPPORTED, None, "neither sha256sum nor openssl"),
        (policy(250), [], Reason.INFRASTRUCTURE, None, "made ready"),
        (policy(137), [], Reason.USER, 137, "signal 9"),
        (policy(137), [pod("Failed", terminated=stopped(137, "OOMKilled"))], Reason.USER, 137, "OOMKilled"),
        (mark("Failed", "DeadlineExceeded", "Job was active"), [], Reason.TIMEOUT, None, "wall-clock"),
        (policy(143), [{"status": {"reason": "DeadlineExceeded"}}], Reason.TIMEOUT, None, "wall-clock"),
        (mark("Failed", "PodFailurePolicy", _EVICTION), [], Reason.PREEMPTED, None, "taken from its node"),
        (
            mark("Failed", "BackoffLimitExceeded"),
            [
                pod(
                    "Failed",
                    mark("DisruptionTarget", "PreemptionByScheduler", "for b"),
                    terminated=stopped(143),
                )
            ],
            Reason.PREEMPTED,
            None,
            "PreemptionByScheduler: for b",
        ),
        (mark("Failed", "BackoffLimitExceeded", "limit"), [], Reason.INFRASTRUCTURE, None, "limit"),
        (mark("Failed"), [], Reason.INFRASTRUCTURE, None, "does not report"),
    ],
)
def test_a_failure_has_a_reason(failed: Any, pods: Any, reason: Reason, code: int | None, words: str) -> None:
    end = ended(job(failed), pods, None)

    assert end is not None
    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, reason, code)
    assert words in end.message


@pytest.mark.parametrize(
    ("ranks", "record", "is_seen", "reason"),
    [
        (3, None, True, Reason.INFRASTRUCTURE),
        (3, None, False, Reason.TIMEOUT),
        (3, {"final": False, "state": "running"}, True, Reason.TIMEOUT),
        (1, None, True, Reason.TIMEOUT),
    ],
)
def test_ranks_whose_command_never_began_had_no_time_limit_of_their_own(
    ranks: int, record: Any, is_seen: bool, reason: Reason
) -> None:
    document = job(policy(137)) | {"spec": {"completions": ranks}}
    late = pod("Failed", terminated=stopped(137))
    late["status"]["reason"] = "DeadlineExceeded"

    end = ended(document, [late], record, is_seen=is_seen)

    assert end is not None
    assert end.reason is reason
    assert ("never began" in end.message) is (reason is Reason.INFRASTRUCTURE)


def test_the_rank_that_failed_first_decides_and_not_those_that_were_ended_for_it() -> None:
    pods = [
        pod("Failed", terminated=stopped(143, at="2026-11-22T02:48:59Z")),
        pod("Failed", terminated=stopped(7, at="2026-11-22T02:48:50Z")),
        pod("Succeeded", terminated=stopped(0, at="2026-11-22T02:48:41Z")),
    ]
    end = ended(job(mark("Failed", "BackoffLimitExceeded")), pods, None)

    assert end is not None
    assert end.exit_code == 7


def test_only_where_pods_are_left_it_is_known_that_nothing_ran() -> None:
    failed = mark("Failed", "PodFailurePolicy", _EVICTION)

    for pods, unstarted in (
        ([], False),
        ([pod("Pending")], True),
        ([pod("Running", running={"startedAt": "x"})], False),
    ):
        end = ended(job(failed), pods, None)
        assert end is not None
        assert end.unstarted is unstarted


def codeless(code: int, message: str = "") -> Any:
    """A pod whose first container ended with that code."""
    document = pod("Failed", waiting={"reason": "PodInitializing"})
    terminated = stopped(code) | ({"message": message} if message else {})
    document["status"]["initContainerStatuses"] = [{"name": "code", "state": {"terminated": terminated}}]
    return document


@pytest.mark.parametrize("has_pods", [True, False])
@pytest.mark.parametrize(
    ("code", "reason", "words", "is_unstarted"),
    [
        (244, Reason.INFRASTRUCTURE, "no longer valid", True),
        (245, Reason.PREPARATION, "its code was deleted", False),
        (246, Reason.INFRASTRUCTURE, "not the code that was accepted", False),
        (247, Reason.PREPARATION, "cannot be unpacked", False),
        (248, Reason.INFRASTRUCTURE, "could not be brought", False),
        (127, Reason.UNSUPPORTED, "`image` has no python3", False),
        (137, Reason.INFRASTRUCTURE, "exit code 137", False),
    ],
)
def test_a_pod_without_the_code_of_its_job_says_why(
    code: int, reason: Reason, words: str, is_unstarted: bool, has_pods: bool
) -> None:
    rule = _RULE.replace("main", "code").format(code)
    pods = [pod("Pending"), codeless(code)] if has_pods else []

    end = ended(job(mark("Failed", "PodFailurePolicy", rule)), pods, None)

    assert end is not None
    assert (end.state, end.reason, end.unstarted) == (JobState.FAILED, reason, is_unstarted)
    assert words in end.message
    assert end.exit_code == (1 if reason is Reason.PREPARATION else None)


def test_what_the_first_container_printed_last_is_the_reason() -> None:
    printed = "warning\nhostile: in its archive '../x' is not a path (on pod-1)\n"

    end = ended(job(mark("Failed", "BackoffLimitExceeded")), [codeless(247, printed)], None)

    assert end is not None
    assert end.message == "in its archive '../x' is not a path (on pod-1)"


def test_a_pod_that_lost_its_node_while_it_got_its_code_was_preempted() -> None:
    evicted = codeless(137)
    evicted["status"]["conditions"] = [mark("DisruptionTarget", "EvictionByEvictionAPI")]

    end = ended(job(mark("Failed", "PodFailurePolicy", _EVICTION)), [evicted], None)

    assert end is not None
    assert end.reason is Reason.PREEMPTED
