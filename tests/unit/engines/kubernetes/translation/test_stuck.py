"""Pods that hold a node and cannot start: what they wait for, and when they are given up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.engines.kubernetes.translation.stuck import given_up, stuck_why, warned_of
from shared.engines.kubernetes.translation.wait_reasons import CONTAINERS
from tests.unit.engines.kubernetes.translation.cluster import mark, pod

START = datetime.fromisoformat("2026-11-22T03:00:00Z")


def at(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).isoformat()


def placed(word: str, *marks: Any, **more: Any) -> Any:
    waiting = {"reason": word, "message": "the detail"}
    return pod("Pending", mark("PodScheduled", at=at(0)), *marks, waiting=waiting, **more)


def warning(reason: str, message: str = "the cause", first: float = 1, last: float = 1) -> Any:
    times = {"firstTimestamp": at(first), "lastTimestamp": at(last)}
    return {"type": "Warning", "reason": reason, "message": message, **times}


def after(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.mark.parametrize("word", CONTAINERS)
def test_each_word_of_a_container_that_does_not_begin_has_a_bound(word: str) -> None:
    one, (_, passes) = placed(word), CONTAINERS[word]

    assert given_up([one], [], after(30)) == ""
    assert bool(given_up([one], [], after(31))) is not passes
    assert bool(given_up([one], [warning("FailedMount")], after(32))) is True


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("ErrImagePull", "unsupported"),
        ("SignatureValidationFailed", "unsupported"),
        ("CreateContainerConfigError", "infrastructure"),
        ("CreateContainerError", "infrastructure"),
    ],
)
def test_an_image_is_its_authors_and_the_rest_is_the_clusters(word: str, reason: str) -> None:
    assert given_up([placed(word)], [], after(31)).startswith(
        f"{reason}: given up after 30 minutes on its node: "
    )


@pytest.mark.parametrize("step", ["PodReadyToStartContainers", "Initialized"])
def test_the_time_counts_from_the_last_step_and_from_the_first_warning(step: str) -> None:
    late = placed("ErrImagePull", mark(step, at=at(40)))

    assert given_up([late], [], after(45)) == ""
    assert given_up([late], [], after(71)) != ""
    assert given_up([placed("ErrImagePull")], [warning("Failed", first=40)], after(45)) == ""
    assert given_up([placed("ErrImagePull", mark(step, status="False", at=at(40)))], [], after(45)) != ""


def test_what_hinders_a_node_from_making_a_pod_is_said_and_not_what_comes_in_turn() -> None:
    summary = (
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[x data]: timed out"
    )
    both = [
        warning("FailedMount", summary, last=9),
        warning("FailedMount", last=8),
        warning("Unhealthy", last=10),
    ]
    one = placed("ContainerCreating")

    why, only = stuck_why([one], both), stuck_why([one], both[:1])
    assert why is not None
    assert (why.word, why.text) == ("FailedMount", "a volume of its pods cannot be mounted (the cause)")
    assert only is not None
    assert "unattached" not in only.text
    assert stuck_why([one], both[2:]) is None


def test_a_pod_whose_first_container_has_begun_is_not_held_up_by_its_volumes() -> None:
    one = placed("PodInitializing")
    one["status"]["initContainerStatuses"] = [{"name": "code", "state": {"running": {"startedAt": at(1)}}}]

    assert stuck_why([one], [warning("FailedMount")]) is None
    assert given_up([one], [warning("FailedMount")], after(90)) == ""
    assert warned_of([one], after(20)) == ""


def test_warnings_are_read_of_pods_that_take_long_only() -> None:
    assert warned_of([placed("ContainerCreating")], after(0.9)) == ""
    assert warned_of([placed("ContainerCreating")], after(1.1)) == "a-0-x"
    assert warned_of([placed("ImagePullBackOff")], after(30)) == ""
    assert warned_of([placed("ImagePullBackOff")], after(31)) == "a-0-x"
    assert warned_of([pod("Pending"), pod("Running", mark("PodScheduled"), running={})], after(90)) == ""
