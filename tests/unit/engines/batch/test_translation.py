"""What tasks and pools say, in our words; and the formula of a pool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import Samples, World
from shared.core.errors import Transient
from shared.core.facts import combined_facts
from shared.core.job import JobState, Reason
from shared.engines.batch.pools import view, why
from shared.engines.batch.scaling import Demand, demand, formula
from shared.engines.batch.translation import observation
from tests.unit.engines.batch.service import CLUSTER

_S, _R = JobState, Reason
TIMES = {"startTime": "2026-09-07T12:00:00.5Z", "endTime": "2026-09-07T12:01:00Z"}


def ended(**facts: Any) -> dict[str, Any]:
    return {"id": "t", "state": "completed", "executionInfo": {**TIMES, "requeueCount": 0, **facts}}


def failure(code: str, category: str = "usererror") -> dict[str, Any]:
    return {"failureInfo": {"category": category, "code": code, "message": "It did not work."}}


@pytest.mark.parametrize(
    ("facts", "state", "reason", "code"),
    [
        ({"exitCode": 0, "result": "success"}, _S.SUCCEEDED, None, 0),
        ({"exitCode": 3, **failure("FailureExitCode")}, _S.FAILED, _R.USER, 3),
        ({"exitCode": 137, **failure("FailureExitCode")}, _S.FAILED, _R.USER, 137),
        ({"exitCode": 124, **failure("FailureExitCode")}, _S.FAILED, _R.TIMEOUT, None),
        ({"exitCode": 250, **failure("FailureExitCode")}, _S.FAILED, _R.INFRASTRUCTURE, None),
        ({"exitCode": 251, **failure("FailureExitCode")}, _S.FAILED, _R.PREPARATION, 1),
        ({"exitCode": 143, **failure("TaskEnded")}, _S.CANCELLED, _R.TERMINATED, None),
        (failure("TaskEnded"), _S.CANCELLED, _R.TERMINATED, None),
        (failure("NodeBootFailed", "servererror"), _S.FAILED, _R.INFRASTRUCTURE, None),
        (failure("BlobNotFound"), _S.FAILED, _R.INFRASTRUCTURE, None),
        ({}, _S.FAILED, _R.INFRASTRUCTURE, None),
        ({"exitCode": True, **failure("Strange")}, _S.FAILED, _R.INFRASTRUCTURE, None),
    ],
)
def test_an_end_in_our_words(
    facts: dict[str, Any], state: JobState, reason: Reason | None, code: int | None
) -> None:
    end = observation(ended(**facts))

    assert (end.state, end.reason, end.exit_code) == (state, reason, code)
    assert end.started is not None
    assert end.ended is not None
    assert bool(end.message) is (state is not _S.SUCCEEDED)


def test_a_pool_that_runs_nothing_but_containers_says_what_to_change() -> None:
    end = observation(ended(**failure("ContainerTaskSettingsNotFound")))

    assert (end.state, end.reason) == (_S.FAILED, _R.INFRASTRUCTURE)
    assert "It did not work.; the pool runs nothing but containers" in str(end.message)
    assert "without containerConfiguration" in str(end.message)


@pytest.mark.parametrize(
    ("record", "word", "state", "reason", "code"),
    [
        ({"state": "ended", "reason": "terminated"}, "FailureExitCode", _S.FAILED, _R.INFRASTRUCTURE, None),
        ({"state": "ended", "reason": "terminated"}, "TaskEnded", _S.CANCELLED, _R.TERMINATED, None),
        ({"state": "running"}, "FailureExitCode", _S.FAILED, _R.USER, 143),
        (None, "FailureExitCode", _S.FAILED, _R.USER, 143),
    ],
)
def test_a_run_that_its_node_asked_to_end_is_not_its_authors_fault(
    record: dict[str, Any] | None, word: str, state: JobState, reason: Reason, code: int | None
) -> None:
    end = observation(ended(exitCode=143, **failure(word)), record and {**record, "final": False})

    assert (end.state, end.reason, end.exit_code) == (state, reason, code)


def test_what_never_began_is_told_from_what_failed() -> None:
    task = ended(**failure("BlobNotFound"))
    del task["executionInfo"]["startTime"]

    assert observation(task).unstarted
    assert not observation(ended(**failure("BlobNotFound"))).unstarted


def test_the_record_of_the_run_says_more_than_its_exit_code() -> None:
    record = {"final": True, "reason": "timeout", "message": "The limit.", "ended": "2026-09-07T12:00:59Z"}

    end = observation(ended(exitCode=3), record)
    assert (end.state, end.reason, end.message) == (_S.FAILED, _R.TIMEOUT, "The limit.")
    assert observation(ended(exitCode=3), {**record, "final": False}).reason is _R.USER


@pytest.mark.parametrize(
    ("word", "state"), [("active", _S.QUEUED), ("preparing", _S.QUEUED), ("running", _S.RUNNING)]
)
def test_a_task_that_has_not_ended(word: str, state: JobState) -> None:
    current = observation({"id": "t", "state": word, "executionInfo": TIMES})

    assert current.state is state
    assert (current.started is not None) == (state is _S.RUNNING)


def test_an_unknown_state_decides_nothing() -> None:
    with pytest.raises(Transient, match="Azure Batch reports an unknown state of t"):
        observation({"id": "t", "state": "dreaming"})


POOL = {
    "id": "t4",
    "vmSize": "Standard_NC4as_T4_v3",
    "allocationState": "steady",
    "currentDedicatedNodes": 2,
    "targetDedicatedNodes": 3,
    "enableAutoScale": True,
}


def resize(code: str) -> dict[str, Any]:
    return {"resizeErrors": [{"code": code, "message": "It was not possible."}]}


@pytest.mark.parametrize(
    ("pool", "counts", "nodes", "word"),
    [
        ({}, {"idle": 1}, 1, "InTurn"),
        ({}, {"idle": 1, "running": 1}, 2, "NodesBusy"),
        ({}, {"running": 2}, 3, "NodesMissing"),
        ({}, {"waitingForStartTask": 1}, 1, "NodesPreparing"),
        ({}, {"startTaskFailed": 1}, 1, "NodesUnusable"),
        (resize("AllocationTimedout"), {}, 1, "NoCapacity"),
        ({}, {}, 5, "TooManyNodes"),
        ({"allocationState": "resizing"}, {}, 1, "Resizing"),
        (resize("AccountVMSeriesCoreQuotaReached"), {}, 1, "Quota"),
        (resize("AccountLowPriorityCoreQuotaReached"), {}, 1, "Quota"),
        (resize("AllocationFailed"), {}, 1, "NoCapacity"),
        (resize("AllocationTimedOut"), {}, 1, "NoCapacity"),
        (resize("OverconstrainedAllocationRequestError"), {}, 1, "NoCapacity"),
        (resize("ImageNotFound"), {}, 1, "ImageEnded"),
        (resize("SomethingNew"), {}, 1, "ClusterErrors"),
        ({"autoScaleRun": {"error": {"code": "AutoScalingFormulaEvaluationError"}}}, {}, 1, "Formula"),
    ],
)
def test_why_a_task_waits_is_concluded_from_its_pool(
    pool: dict[str, Any], counts: dict[str, int], nodes: int, word: str
) -> None:
    current = view(CLUSTER, POOL | pool, {"poolId": "t4", "dedicated": {**counts, "total": 9}})
    reason = why(nodes, current)

    assert reason is not None
    assert reason.word == word
    assert reason.never is (word == "TooManyNodes")
    assert reason.lacks_capacity is (word in {"Quota", "NoCapacity"})
    assert reason.passes is (word in {"InTurn", "NodesBusy", "NodesMissing", "NodesPreparing", "Resizing"})


def test_a_view_has_nodes_of_both_kinds_and_its_own_bounds() -> None:
    counts = {"dedicated": {"idle": 1}, "lowPriority": {"running": 2, "preempted": 1}}
    current = view(CLUSTER, POOL | {"currentLowPriorityNodes": 3}, counts)

    assert (current.nodes, current.minimum, current.maximum, current.size) == (
        5,
        0,
        4,
        "Standard_NC4as_T4_v3",
    )
    assert current.counts == {"idle": 1, "running": 2, "preparing": 0, "unusable": 0, "leaving": 1}
    fixed = view(CLUSTER, POOL | {"enableAutoScale": False}, {})
    assert (fixed.minimum, fixed.maximum) == (3, 3)


def test_a_view_says_where_the_pool_is_what_growing_takes_and_how_to_see_the_quota() -> None:
    current = view(replace(CLUSTER, url="https://acct.westus2.batch.azure.com", account=""), POOL, {}).supply

    assert current.region == "westus2"
    assert "at most every 30 s" in current.growth
    assert "[?name=='acct'].[dedicatedCoreQuotaPerVmFamily" in current.quota
    assert view(replace(CLUSTER, url="http://127.0.0.1:9", scales=False), POOL, {}).supply.growth == ""
    assert replace(CLUSTER, url="http://127.0.0.1:9").region == ""


def test_the_demand_of_tasks_is_their_nodes_and_those_of_the_wide_ones() -> None:
    assert demand([]) == Demand()
    assert demand([1, 1]) == Demand(0, 0, 2)
    assert (demand([1, 3, 2]), demand([1, 3, 2]).total) == (Demand(2, 5, 1), 6)
    assert [demand([1] * tasks, slots=4).total for tasks in (1, 4, 5, 8)] == [1, 1, 2, 2]


def test_a_formula_has_room_for_wide_tasks_and_no_more_than_the_cluster_may_have() -> None:
    assert formula(CLUSTER, demand([1, 3, 2])) == (
        "wideTasks = 2;\n"
        "wideNodes = 4;\n"
        "singleNodes = 1;\n"
        "slots = 1;\n"
        "samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);\n"
        "latest = max(0, $PendingTasks.GetSample(1));\n"
        "pending = samples < 70 ? latest"
        " : max(latest, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));\n"
        "known = wideNodes + min(singleNodes, max(0, pending - wideTasks));\n"
        "wanted = pending > 0 ? max(1, max(known, latest / slots)) : 0;\n"
        "$TargetDedicatedNodes = min(4, max(0, wanted));\n"
        "$TargetLowPriorityNodes = 0;\n"
        "$NodeDeallocationOption = taskcompletion;\n"
    )


@pytest.mark.parametrize("counts_instances", [True, False])
@pytest.mark.parametrize(
    ("sizes", "slots", "target"),
    [
        ([5], 1, 5),
        ([8], 1, 8),
        ([5, 1, 1], 1, 7),
        ([3, 2, 1], 1, 6),
        ([1] * 8, 1, 8),
        ([1] * 8, 4, 2),
        ([1] * 9, 4, 3),
        ([1] * 30, 1, 12),
    ],
)
def test_a_formula_asks_for_the_nodes_that_tasks_need_however_the_service_counts_them(
    sizes: list[int], slots: int, target: int, counts_instances: bool
) -> None:
    pending = float(sum(sizes) if counts_instances else len(sizes))
    samples = Samples([(30.0, pending), (0.0, pending)], lambda seconds: 100.0)
    text = formula(replace(CLUSTER, max_nodes=12), demand(sizes, slots))

    assert read(text).evaluate(World({"PendingTasks": samples}, 0.0))["$TargetDedicatedNodes"] == target


@pytest.mark.parametrize(("pending", "target"), [(4, 4), (1, 1), (0, 0)])
def test_a_formula_that_is_not_written_again_asks_for_less_as_tasks_end(pending: float, target: int) -> None:
    samples = Samples([(30.0, pending), (0.0, pending)], lambda seconds: 100.0)
    text = formula(CLUSTER, demand([1] * 4))

    assert read(text).evaluate(World({"PendingTasks": samples}, 0.0))["$TargetDedicatedNodes"] == target


@pytest.mark.parametrize(("pending", "target"), [(5, 5), (3, 3), (1, 1), (0, 0)])
def test_a_formula_that_no_pass_wrote_follows_the_tasks_as_well(pending: float, target: int) -> None:
    samples = Samples([(30.0, 0.0), (0.0, pending)], lambda seconds: 100.0)
    text = formula(replace(CLUSTER, max_nodes=12), Demand())

    assert read(text).evaluate(World({"PendingTasks": samples}, 0.0))["$TargetDedicatedNodes"] == target


def test_a_formula_of_spot_nodes_asks_for_those_and_keeps_the_fewest_that_stay() -> None:
    text = formula(replace(CLUSTER, spot=True, min_nodes=2), demand([]))

    assert "$TargetLowPriorityNodes = min(4, max(2, wanted));\n$TargetDedicatedNodes = 0;" in text


def test_a_pool_of_a_retired_size_says_so_to_its_jobs() -> None:
    old = view(CLUSTER, POOL | {"vmSize": "standard_nc24rs_v3"}, {})

    assert "Standard_NC96ads_A100_v4" in old.facts.retired_size
    assert combined_facts(CLUSTER.facts, old.facts) == old.facts
    assert view(CLUSTER, POOL, {}).facts.retired_size == ""


@pytest.mark.parametrize(
    ("pool", "is_alone"),
    [
        ({}, False),
        ({"enableInterNodeCommunication": True}, False),
        ({"enableInterNodeCommunication": True, "taskSlotsPerNode": 1}, False),
        ({"enableInterNodeCommunication": False}, True),
        ({"enableInterNodeCommunication": True, "taskSlotsPerNode": 4}, True),
    ],
)
def test_a_pool_whose_nodes_are_shared_or_may_not_speak_to_each_other_takes_jobs_on_one_node_alone(
    pool: dict[str, Any], is_alone: bool
) -> None:
    current = view(CLUSTER, POOL | pool, {"dedicated": {"idle": 2}})

    assert current.facts.lists_all is is_alone
    assert (current.facts.max_nodes == 1) is is_alone
    reason = why(2, current)
    assert reason is not None
    assert reason.never is is_alone
