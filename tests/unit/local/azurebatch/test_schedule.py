"""Which task gets which nodes, and how pools get theirs, without a clock or a process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.azurebatch.run import changes, pool_nodes
from local.azurebatch.run.endings import Ending, exited
from local.azurebatch.run.schedule import placements
from local.azurebatch.settings import Pace
from local.azurebatch.state.models import Job, Node, Pool, Task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PACE = Pace(provisioning=timedelta(seconds=2), leaving=timedelta(seconds=1))


def pool(nodes: int = 0, **values: Any) -> Pool:
    machines = tuple(
        Node(id=f"n{number}", number=number, dedicated=True, state="idle", since=NOON, allocated=NOON)
        for number in range(1, nodes + 1)
    )
    document = {"vmSize": "x", "enableInterNodeCommunication": True}
    usual = {"id": "p", "document": document, "dedicated": nodes, "nodes": machines}
    return Pool(
        sequence=1,
        created=NOON,
        version=NOON,
        since=NOON,
        allocation_since=NOON,
        **{**usual, **values},
    )


def task(name: str, instances: int = 1, **document: Any) -> Task:
    content: dict[str, Any] = {"constraints": {"maxTaskRetryCount": 0}, **document}
    if instances > 1:
        content["multiInstanceSettings"] = {"numberOfInstances": instances}
    return Task(id=name, sequence=1, created=NOON, version=NOON, since=NOON, document=content, job="j")


def placed(where: Pool, used: dict[str, int], *waiting: Task) -> dict[str, Sequence[str]]:
    return {task.id: nodes for task, nodes in placements(where, used, waiting, {})}


def test_tasks_get_the_emptiest_nodes_in_their_order() -> None:
    where = pool(2, document={"taskSlotsPerNode": 2})

    assert placed(where, {"n1": 1}, task("a"), task("b"), task("c"), task("d")) == {
        "a": ("n2",),
        "b": ("n1",),
        "c": ("n2",),
    }


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"enableInterNodeCommunication": False},
        {"enableInterNodeCommunication": True, "taskSlotsPerNode": 2},
    ],
)
def test_a_gang_waits_for_ever_where_nodes_may_not_speak_or_have_several_slots(
    document: dict[str, Any],
) -> None:
    assert placed(pool(3, document=document), {}, task("gang", 2), task("small")) == {"small": ("n1",)}


def test_packed_nodes_are_filled_one_after_the_other() -> None:
    where = pool(2, document={"taskSlotsPerNode": 2, "taskSchedulingPolicy": {"nodeFillType": "Pack"}})

    assert placed(where, {"n2": 1}, task("a"), task("b")) == {"a": ("n2",), "b": ("n1",)}


def test_a_large_task_lets_small_ones_past() -> None:
    where = pool(1, document={"taskSlotsPerNode": 2})

    assert placed(where, {"n1": 1}, task("large", requiredSlots=2), task("small")) == {"small": ("n1",)}


def test_a_task_of_several_nodes_keeps_free_ones_until_it_has_enough() -> None:
    assert placed(pool(3), {"n1": 1}, task("gang", 3), task("small")) == {}
    assert placed(pool(3), {}, task("gang", 3), task("small")) == {"gang": ("n1", "n2", "n3")}


def test_one_that_the_pool_cannot_hold_keeps_nothing() -> None:
    assert placed(pool(2), {}, task("gang", 3), task("small")) == {"small": ("n1",)}


def test_a_pool_grows_when_its_time_has_come() -> None:
    resizing = pool(allocation="resizing", dedicated=2)

    early = pool_nodes.step(resizing, (), iter(range(1, 9)), NOON, PACE)
    due = pool_nodes.step(resizing, (), iter(range(1, 9)), NOON + timedelta(seconds=1), PACE)
    booting = pool_nodes.step(due.pool, (), iter(()), NOON + timedelta(seconds=2), PACE)
    ready = pool_nodes.step(booting.pool, (), iter(()), NOON + timedelta(seconds=3), PACE)

    assert (early.pool, early.wake) == (resizing, NOON + timedelta(seconds=1))
    assert [(node.state, node.number) for node in due.pool.nodes] == [("creating", 1), ("creating", 2)]
    assert due.pool.allocation == "steady"
    assert [node.state for node in booting.pool.nodes] == ["starting", "starting"]
    assert [node.state for node in ready.pool.nodes] == ["idle", "idle"]
    assert ready.booted == [node.id for node in due.pool.nodes]


@pytest.mark.parametrize(
    ("leaving", "states"),
    [("requeue", ["leavingpool", "leavingpool"]), ("taskcompletion", ["idle", "leavingpool"])],
)
def test_nodes_without_tasks_leave_first_and_others_may_be_waited_for(
    leaving: str, states: list[str]
) -> None:
    small = pool(2, dedicated=0, allocation="resizing", leaving=leaving)

    step = pool_nodes.step(small, {"n1"}, iter(()), NOON, PACE)

    kinds = {"running": "idle"}
    assert [kinds.get(node.state, node.state) for node in step.pool.nodes] == states


def test_a_node_is_gone_after_a_while_if_nothing_runs_there() -> None:
    going = pool(1).nodes[0].evolve(state="leavingpool")
    late = NOON + timedelta(seconds=5)

    busy = pool_nodes.step(
        pool(nodes=0).evolve(nodes=(going,), allocation="resizing"), {"n1"}, iter(()), late, PACE
    )
    idle = pool_nodes.step(
        pool(nodes=0).evolve(nodes=(going,), allocation="resizing"), (), iter(()), late, PACE
    )

    assert busy.pool.nodes == (going,)
    assert (idle.pool.nodes, idle.removed, idle.pool.allocation) == ((), [going], "steady")


def test_a_lost_node_costs_no_try_and_a_bad_code_does() -> None:
    running = changes.started(task("t", constraints={"maxTaskRetryCount": 1}), "p", ("n1",), "mark", NOON)

    lost = changes.ended(running, Ending(lost=True), NOON)
    bad = changes.ended(running, exited(1), NOON)
    last = changes.ended(bad, exited(1), NOON)

    assert (lost.state, lost.requeues, lost.retries, lost.attempt) == ("active", 1, 0, "")
    assert (bad.state, bad.requeues, bad.retries) == ("active", 0, 1)
    assert (last.state, last.exit_code, last.retries) == ("completed", 1, 1)


@pytest.mark.parametrize(("code", "action"), [(0, "none"), (4, "terminate"), (12, "disable"), (9, "none")])
def test_the_exit_conditions_of_a_task_say_what_becomes_of_its_job(code: int, action: str) -> None:
    conditions = {
        "exitCodes": [{"code": 4, "exitOptions": {"jobAction": "terminate"}}],
        "exitCodeRanges": [{"start": 10, "end": 20, "exitOptions": {"jobAction": "disable"}}],
    }
    job = Job(
        id="j",
        sequence=1,
        created=NOON,
        version=NOON,
        since=NOON,
        document={"onTaskFailure": "performexitoptionsjobaction"},
        pool="p",
    )
    ended = changes.ended(task("t", exitConditions=conditions), exited(code), NOON)

    assert changes.job_action(job, ended) == action
    assert changes.job_action(job.evolve(document={}), ended) == "none"


@pytest.mark.parametrize("allocation", ["stopping", "resizing", "steady"])
def test_a_pool_that_waits_for_the_tasks_of_its_nodes_stays_as_it_is(allocation: str) -> None:
    going = pool(1).nodes[0].evolve(state="leavingpool")
    waiting = pool(nodes=0).evolve(nodes=(going,), allocation=allocation)
    assert pool_nodes.step(waiting, {"n1"}, iter(()), NOON + timedelta(seconds=9), PACE).pool is waiting


def test_a_pool_whose_nodes_all_work_until_their_tasks_end_stays_as_it_is() -> None:
    busy = pool(1, dedicated=0, allocation="resizing", leaving="taskcompletion")
    working = busy.with_node(busy.nodes[0].evolve(state="running"))
    assert pool_nodes.step(working, {"n1"}, iter(()), NOON + timedelta(seconds=9), PACE).pool is working
