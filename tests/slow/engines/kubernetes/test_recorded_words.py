"""What real clusters said of jobs, in our words: each recorded end and wait is understood."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.job import JobState, Reason
from shared.engines.kubernetes.translation.observations import Evidence, observation
from shared.engines.kubernetes.translation.wait_reasons import events_wait, pods_wait, queue_waits
from tests.slow.engines.kubernetes.test_recorded import exchanges

NOW = datetime(2026, 11, 22, 4, tzinfo=UTC)


def last(path: str) -> Any:
    answers = [one["response"] for one in exchanges() if one["method"] == "GET" and one["path"] == path]
    return answers[-1]


def evidence(name: str) -> Evidence:
    pods = last(f"/api/v1/namespaces/default/pods?labelSelector=job-name%3D{name}")["items"]
    return Evidence(last(f"/apis/batch/v1/namespaces/default/jobs/{name}"), pods)


@pytest.mark.parametrize(
    ("name", "state", "reason", "code"),
    [
        ("exit3", JobState.FAILED, Reason.USER, 3),
        ("exit3-policy", JobState.FAILED, Reason.USER, 3),
        ("one-of-three", JobState.FAILED, Reason.USER, 5),
        ("master-decides", JobState.SUCCEEDED, None, 0),
        ("deadline", JobState.FAILED, Reason.TIMEOUT, None),
        ("evicted", JobState.FAILED, Reason.PREEMPTED, None),
        ("evicted-ignore", JobState.SUCCEEDED, None, 0),
        ("cannot-fit", JobState.QUEUED, None, None),
        ("not-pullable-selector", JobState.QUEUED, None, None),
        ("lost", JobState.RUNNING, None, None),
    ],
)
def test_a_recorded_job_is_in_one_state(
    name: str, state: JobState, reason: Reason | None, code: int | None
) -> None:
    observed = observation(evidence(name), NOW)

    assert (observed.state, observed.reason, observed.exit_code) == (state, reason, code)


@pytest.mark.parametrize(("name", "words"), [("cannot-fit", "is free"), ("not-pullable-selector", "labels")])
def test_recorded_pods_say_what_they_wait_for(name: str, words: str) -> None:
    why = pods_wait(evidence(name).pods)

    assert why is not None
    assert words in why.text


def test_recorded_workloads_say_what_they_wait_for() -> None:
    path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
    lists = [
        one["response"]["items"] for one in exchanges() if one["method"] == "GET" and one["path"] == path
    ]
    words = {
        (one["metadata"]["ownerReferences"][0]["name"], why.word, why.never)
        for items in lists
        for one in items
        if (why := queue_waits(one, is_old=True)) is not None
    }

    assert {("b", "WaitingForQuota", False), ("lo", "WaitingForQuota", False)} <= words
    assert {("big", "ExceedsMaxQuota", True), ("noq", "Misconfigured", True)} <= words
    assert not [name for name, _, _ in words if name in ("a", "hi")], "those are admitted at once"


def test_recorded_events_say_that_a_quota_kept_a_rank_from_starting() -> None:
    why = events_wait(last("/api/v1/namespaces/quota/events")["items"])

    assert why is not None
    assert why.word == "QuotaExceeded"
    assert "requests.nvidia.com/gpu" in why.text
