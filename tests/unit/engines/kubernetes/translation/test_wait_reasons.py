"""Why an attempt waits, and whether that passes."""

from __future__ import annotations

from typing import Any

import pytest

from shared.engines.kubernetes.translation.wait_reasons import (
    begun_word,
    events_wait,
    pods_wait,
    queue_waits,
    word_waits,
)
from tests.unit.engines.kubernetes.translation.cluster import mark, pod


def unscheduled(message: str, reason: str = "Unschedulable") -> Any:
    return pod("Pending", mark("PodScheduled", reason, message, "False"))


def test_pods_that_run_or_are_new_wait_for_nothing() -> None:
    running = pod("Running", mark("PodScheduled"), running={"startedAt": "x"})

    assert pods_wait([]) is None
    assert pods_wait([running, pod("Pending")]) is None


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("0/4 nodes are available: 4 Insufficient nvidia.com/gpu. no new claims to deallocate", "is free"),
        ("0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.", "labels"),
    ],
)
def test_a_pod_without_a_node_says_what_is_missing(message: str, words: str) -> None:
    why = pods_wait([pod("Running"), unscheduled(message)])

    assert why is not None
    assert why.word == "Unschedulable"
    assert words in why.text
    assert "0/4 nodes are available" in why.text
    assert "no new claims" not in why.text
    assert not why.passes
    assert not why.never


@pytest.mark.parametrize(
    ("word", "passes", "never"),
    [
        ("ContainerCreating", True, False),
        ("ImagePullBackOff", False, False),
        ("InvalidImageName", False, True),
        ("CreateContainerConfigError", False, False),
    ],
)
def test_a_container_that_does_not_begin_says_why(word: str, passes: bool, never: bool) -> None:
    why = pods_wait([pod("Pending", waiting={"reason": word, "message": "the detail"})])

    assert why is not None
    assert (why.word, why.passes, why.never) == (word, passes, never)
    assert "(the detail)" in why.text


def test_a_gate_passes_and_an_unknown_word_of_a_container_hinders_nothing() -> None:
    gated = pods_wait([unscheduled("", "SchedulingGated")])

    assert gated is not None
    assert gated.passes
    assert pods_wait([pod("Pending", waiting={"reason": "Later"})]) is None


def workload(*marks: Any) -> Any:
    return {"status": {"conditions": list(marks)}}


@pytest.mark.parametrize(
    ("reason", "passes", "never"),
    [
        ("WaitingForQuota", True, False),
        ("ExceedsMaxQuota", False, True),
        ("Misconfigured", False, True),
        ("SomethingNew", False, False),
    ],
)
def test_kueue_says_what_keeps_a_job_in_its_queue(reason: str, passes: bool, never: bool) -> None:
    why = queue_waits(workload(mark("QuotaReserved", reason, "the detail", "False")), is_old=True)

    assert why is not None
    assert (why.word, why.passes, why.never) == (reason, passes, never)
    assert why.text.endswith("(the detail)")


def test_a_workload_that_is_admitted_waits_for_nothing_and_one_on_its_way_passes() -> None:
    reserved = mark("QuotaReserved", "QuotaReserved")

    assert queue_waits(workload(reserved, mark("Admitted")), is_old=True) is None
    for one in (workload(), workload(reserved, mark("Admitted", status="False"))):
        why = queue_waits(one, is_old=True)
        assert why is not None
        assert why.passes


@pytest.mark.parametrize(
    ("marks", "active", "word", "start"),
    [
        ((), False, "Suspended", "its Workload is deactivated in Kueue"),
        (
            (
                mark("QuotaReserved", "Pending", "The workload is deactivated", "False"),
                mark("Evicted", "Deactivated"),
            ),
            False,
            "Suspended",
            "its Workload is deactivated in Kueue",
        ),
        (
            (
                mark("QuotaReserved", "Pending", "ClusterQueue cq is stopped", "False"),
                mark("Evicted", "ClusterQueueStopped"),
            ),
            True,
            "QueueStopped",
            "its queue is stopped on the cluster (ClusterQueue cq",
        ),
        (
            (mark("QuotaReserved", "Inadmissible", "LocalQueue gpu is inactive", "False"),),
            True,
            "QueueStopped",
            "its queue is stopped on the cluster (LocalQueue gpu",
        ),
        (
            (mark("QuotaReserved", "Pending", "request > maximum capacity (8 > 4)", "False"),),
            True,
            "ExceedsMaxQuota",
            "can never start",
        ),
    ],
)
def test_what_waits_for_a_person_is_not_told_as_a_quota_in_use(
    marks: tuple[Any, ...], active: bool, word: str, start: str
) -> None:
    why = queue_waits({**workload(*marks), "spec": {"active": active}}, is_old=True)

    assert why is not None
    assert why.word == word
    assert why.text.startswith(start)
    assert not why.passes


def test_one_that_was_preempted_says_that_it_runs_again() -> None:
    quota = mark("QuotaReserved", "WaitingForQuota", status="False")
    why = queue_waits(workload(quota, mark("Evicted", "Preempted")), is_old=True)

    assert why is not None
    assert why.text.startswith("its nodes were taken away, and it runs again: ")


def test_a_job_that_kueue_never_takes_is_noticed_after_a_while() -> None:
    new, old = queue_waits(None, is_old=False), queue_waits(None, is_old=True)

    assert new is not None
    assert new.passes
    assert old is not None
    assert not old.passes
    assert "WorkloadPriorityClass" in old.text


@pytest.mark.parametrize(
    ("message", "word", "never"),
    [
        (
            'Error creating: pods "a" is forbidden: exceeded quota: q, requested: pods=1',
            "QuotaExceeded",
            False,
        ),
        ("Error creating: no PriorityClass with name nope was found", "NoPriorityClass", True),
        ('Error creating: pods "a" is forbidden: violates PodSecurity "restricted"', "PodSecurity", True),
        ("Error creating: something else", "FailedCreate", False),
    ],
)
def test_a_job_that_cannot_make_its_pods_says_so_by_its_latest_event(
    message: str, word: str, never: bool
) -> None:
    events = [
        {"reason": "FailedCreate", "message": message, "lastTimestamp": "2026-11-22T02:46:42Z"},
        {"reason": "FailedCreate", "message": "older", "lastTimestamp": "2026-11-22T02:46:41Z"},
        {"reason": "SuccessfulCreate", "message": "Created pod: a", "lastTimestamp": "2026-11-22T02:46:43Z"},
    ]
    why = events_wait(events)

    assert why is not None
    assert (why.word, why.never) == (word, never)
    assert why.text.endswith(f"({message.removeprefix('Error creating: ').rpartition('forbidden: ')[2]})")
    assert events_wait(events[2:]) is None


def test_the_image_of_the_first_container_counts_like_that_of_the_job() -> None:
    document = pod("Pending", waiting={"reason": "PodInitializing"})
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
    document["status"]["initContainerStatuses"] = [{"name": "code", "state": state}]

    why = pods_wait([document])

    assert why is not None
    assert (why.word, why.passes) == ("ImagePullBackOff", False)


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("Init:0/1", "PodInitializing"),
        ("Init:ImagePullBackOff", "ImagePullBackOff"),
        ("Init:Error", "Error"),
        ("Running", "Running"),
    ],
)
def test_a_row_has_the_word_of_a_first_container_behind_another_one(word: str, plain: str) -> None:
    assert begun_word(word) == plain


_PULL = 'failed to pull and unpack image "registry.example/x:1": not found'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            unscheduled(
                "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. no new claims to deallocate"
            ),
            unscheduled("0/4 nodes are available: 4 Insufficient nvidia.com/gpu."),
        ),
        (
            pod("Pending", waiting={"reason": "ErrImagePull", "message": _PULL}),
            pod(
                "Pending",
                waiting={
                    "reason": "ImagePullBackOff",
                    "message": f'Back-off pulling image "registry.example/x:1": ErrImagePull: {_PULL}',
                },
            ),
        ),
    ],
)
def test_a_pod_that_waits_for_the_same_says_the_same(one: Any, other: Any) -> None:
    assert pods_wait([one]) == pods_wait([other])


def test_names_and_amounts_that_change_make_no_other_reason() -> None:
    amounts = "requested: pods=1, used: pods={}, limited: pods=9"
    text = f'Error creating: pods "a-0-{{}}" is forbidden: exceeded quota: q, {amounts}'
    quota = "insufficient unused quota for nvidia.com/gpu in flavor a, {} more needed"
    events = [
        [{"reason": "FailedCreate", "message": text.format(*each)}] for each in (("x7k2p", 8), ("abcde", 9))
    ]
    queues = [
        workload(mark("QuotaReserved", "WaitingForQuota", quota.format(number), "False")) for number in (1, 5)
    ]

    assert events_wait(events[0]) == events_wait(events[1])
    assert queue_waits(queues[0], is_old=True) == queue_waits(queues[1], is_old=True)


@pytest.mark.parametrize(
    ("word", "is_brief"), [("Pending", True), ("ImagePullBackOff", True), ("Init:0/1", False)]
)
def test_a_row_says_less_than_its_pod(word: str, is_brief: bool) -> None:
    why = word_waits(word, "")

    assert why is not None
    assert why.is_brief is is_brief
