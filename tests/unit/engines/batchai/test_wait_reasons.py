"""What a queued job of Batch AI waits for, as its cluster tells."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.core.engine import NEVER, ClusterView, Observation
from shared.core.job import JobState
from shared.engines.batchai.facts import view_of
from shared.engines.batchai.wait_reasons import ObservedJob, explained, why, youngest

NOW = datetime(2026, 1, 1, tzinfo=UTC)
VIEW = ClusterView("gpu", "batchai", "steady", 2, {"idle": 0, "running": 2}, 0, 4, "NC6")


@pytest.mark.parametrize(
    ("nodes", "view", "word"),
    [
        (5, VIEW, "TooManyNodes"),
        (1, VIEW, "NodesBusy"),
        (3, VIEW, "NodesMissing"),
        (1, replace(VIEW, counts={"idle": 1}), "InTurn"),
        (1, replace(VIEW, counts={"idle": 1, "unusable": 1}, errors=("a node is broken",)), "InTurn"),
        (1, replace(VIEW, counts={"idle": 0, "running": 0, "leaving": 2}), "NodesMissing"),
        (2, replace(VIEW, counts={"idle": 0, "running": 1}), "NodesMissing"),
        (2, replace(VIEW, counts={"idle": 1}, state="resizing"), "Resizing"),
        (2, replace(VIEW, counts={"preparing": 1}), "NodesPreparing"),
        (2, replace(VIEW, counts={"unusable": 1}), "NodesUnusable"),
        (2, replace(VIEW, state="resizing", errors=("quota is used up",)), "ClusterErrors"),
        (9, None, None),
        ("2", VIEW, None),
    ],
)
def test_the_first_thing_that_hinders_a_job_is_what_it_waits_for(
    nodes: object, view: ClusterView | None, word: str | None
) -> None:
    result = why(nodes, view)
    assert (result.word if result else None) == word


def test_a_job_that_is_larger_than_its_cluster_can_never_start_as_things_stand() -> None:
    result = why(2, replace(VIEW, maximum=1))
    assert result is not None
    assert result.text == f"{NEVER}: the job asks for 2 nodes, the cluster has at most 1"
    assert result.never
    assert not result.passes


def test_a_cluster_of_a_fixed_size_that_is_still_starting_is_as_large_as_it_will_be() -> None:
    starting = {"currentNodeCount": 0, "scaleSettings": {"manual": {"targetNodeCount": 2}}}
    result = why(2, view_of("gpu", starting | {"allocationState": "resizing"}))
    assert result is not None
    assert result.word == "Resizing"


# Jobs of a list


def _job(seconds: float | None, state: JobState = JobState.QUEUED) -> ObservedJob:
    since = (NOW - timedelta(seconds=seconds)).isoformat() if seconds is not None else None
    return {"properties": {"nodeCount": 1, "executionStateTransitionTime": since}}, Observation(state)


@pytest.mark.parametrize(
    ("jobs", "age"),
    [
        ([], None),
        ([_job(5, JobState.RUNNING)], None),
        ([_job(5, JobState.RUNNING), _job(90), _job(30)], 30),
        ([_job(-5)], 0),
        ([_job(None)], math.inf),
        ([_job(None), _job(7)], 7),
    ],
)
def test_what_the_cluster_was_like_before_a_job_came_into_its_queue_says_nothing_of_it(
    jobs: list[ObservedJob], age: float | None
) -> None:
    assert youngest(jobs, NOW) == age


def test_only_queued_jobs_wait_and_one_without_properties_for_nothing_that_is_known() -> None:
    result = explained([_job(1, JobState.RUNNING), _job(1), ({}, Observation(JobState.QUEUED))], VIEW)
    assert [observation.why.word if observation.why else None for observation in result] == [
        None,
        "NodesBusy",
        None,
    ]


def test_jobs_of_one_size_share_what_they_wait_for() -> None:
    one, other = explained([_job(1), _job(2)], VIEW)
    assert one.why is not None
    assert one.why is other.why


def test_where_nothing_is_known_of_the_cluster_each_job_stays_as_it_is() -> None:
    jobs = [_job(1), _job(2, JobState.RUNNING)]
    assert all(one is job[1] for one, job in zip(explained(jobs, None), jobs, strict=True))
