"""Attempts as tasks: added once, listed at each pass, ended, forgotten; and the pool that follows them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.core.errors import Conflict, Misconfigured, NotFound, Saturated, Transient
from shared.core.job import JobState, Reason
from shared.engines.proofs import Proofs
from tests.unit.engines.batch.account import error
from tests.unit.engines.batch.service import Service, engine, order
from tests.unit.engines.test_shared_records import Share

NOON = datetime(2026, 9, 7, 12, tzinfo=UTC).timestamp()
TASKS = "/jobs/gpu-normal/tasks"
WIDE: dict[str, Any] = {"nodeCount": 3}


async def test_the_first_attempt_makes_the_batch_job_that_all_others_share() -> None:
    service = Service()
    async with engine(service) as batch:
        observed = await batch.submit(order())
        await batch.submit(order("digits-abc-2", "j_abc.2"))

    assert observed is not None
    assert (observed.state, observed.handle) == (JobState.QUEUED, "gpu-normal/digits-abc-1")
    add = f"POST {TASKS}"
    assert service.calls() == [add, "POST /jobs", add, add]
    assert service.account is not None
    assert service.account.requests[1].body == {
        "id": "gpu-normal",
        "priority": 0,
        "poolInfo": {"poolId": "t4"},
        "onAllTasksComplete": "noaction",
        "metadata": [{"name": "slipway", "value": "gpu"}],
    }


@pytest.mark.parametrize(("level", "priority"), [("low", -500), ("normal", 0), ("high", 500)])
async def test_each_priority_has_a_batch_job(level: str, priority: int) -> None:
    service = Service()
    async with engine(service) as batch:
        await batch.submit(order(schedulingPriority=level))

    assert service.account is not None
    assert service.account.requests[1].body["priority"] == priority
    assert list(service.jobs) == [f"gpu-{level}"]


async def test_an_answer_that_was_lost_costs_no_second_run() -> None:
    service = Service(jobs={"gpu-normal": {}}, lose={f"POST {TASKS}"})
    async with engine(service) as batch:
        with pytest.raises(Transient):
            await batch.submit(order())
        service.lose.clear()
        observed = await batch.submit(order())

    assert observed is not None
    assert observed.state is JobState.QUEUED
    assert list(service.jobs["gpu-normal"]) == ["digits-abc-1"]


@pytest.mark.parametrize("page", ["<html>Welcome</html>", '{"id": "digits', "[]", ""])
async def test_a_page_of_a_proxy_is_neither_acceptance_nor_a_task_of_another_job(page: str) -> None:
    service = Service(jobs={"gpu-normal": {}})
    async with engine(service) as batch:
        service.fail[f"POST {TASKS}"] = (200, page)
        with pytest.raises(Transient, match="did not confirm the task: 200"):
            await batch.submit(order())
        service.fail.clear()
        await batch.submit(order())
        service.fail["GET /jobs/gpu-low/tasks/digits-abc-1"] = (200, page)
        for act in (batch.submit(order()), batch.see(order().target), batch.cancel(order().target)):
            with pytest.raises(Transient, match="cannot be read"):
                await act

        service.fail["GET /pools/t4"] = (200, page)
        with pytest.raises(Transient, match="cannot be read"):
            await batch.nodes("gpu")

    assert service.task("digits-abc-1")["state"] == "active"


async def test_a_record_in_the_shared_directory_counts_only_with_its_proof(tmp_path: Path) -> None:
    """Every node of the pool may write there; the task has the key, and no job sees it."""
    service, proofs = Service(), Proofs(("the deployment's",))
    Share(tmp_path).run(name="digits-abc-1", token="j_abc.1")
    (tmp_path / "slipway/attempts/e").rename(tmp_path / "slipway/attempts/exp")
    async with engine(
        service, proofs=proofs, shared="/shared/slipway", reads={"/shared": str(tmp_path)}
    ) as batch:
        await batch.submit(order())
        (plan,) = [
            json.loads(one["value"])
            for one in service.task("digits-abc-1")["environmentSettings"]
            if one["name"] == "SLIPWAY_PLAN"
        ]
        service.end("digits-abc-1", exitCode=251, result="failure")
        end = await batch.see(order().target)

    assert plan["proof"] == list(proofs.with_keys(order()).keys["j_abc.1"])
    assert "a record without its proof was found" in end.message


async def test_a_name_with_another_token_is_never_taken_for_ours() -> None:
    service = Service()
    async with engine(service) as batch:
        await batch.submit(order(token="j_other.1"))
        with pytest.raises(Conflict, match="digits-abc-1 belongs to another job on gpu"):
            await batch.submit(order())
        with pytest.raises(NotFound):
            await batch.see(order().target)
        assert await batch.status("gpu", [order().target]) == {}
        await batch.cancel(order().target)
        await batch.forget("gpu", [order().target])

    assert service.task("digits-abc-1")["state"] == "active"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ((409, error("ActiveJobAndScheduleQuotaReached")), Saturated),
        ((409, error("JobBeingDeleted")), Transient),
        ((404, error("PoolNotFound")), Misconfigured),
    ],
)
async def test_a_batch_job_that_cannot_be_made_decides_what_becomes_of_the_attempt(
    reply: Any, kind: type[Exception]
) -> None:
    service = Service(fail={"POST /jobs": reply})
    async with engine(service) as batch:
        with pytest.raises(kind):
            await batch.submit(order())


async def test_a_pass_is_one_list_for_each_priority_and_reads_no_environment() -> None:
    service = Service()
    async with engine(service, NOON, scales=False) as batch:
        orders = [order(f"n-{number}", f"t.{number}") for number in range(3)]
        for one in orders:
            await batch.submit(one)
        service.task("n-1")["state"] = "running"
        service.end("n-2", exitCode=3, result="failure")
        before = len(service.calls())
        observed = await batch.status("gpu", [one.target for one in orders])
        requests = service.account.requests[before:] if service.account else []

    assert {name: one.state for name, one in observed.items()} == {
        "n-0": JobState.QUEUED,
        "n-1": JobState.RUNNING,
        "n-2": JobState.FAILED,
    }
    lists = [one for one in requests if one.path.endswith("/tasks")]
    assert [one.path for one in lists] == [f"/jobs/gpu-{level}/tasks" for level in ("low", "normal", "high")]
    assert lists[0].query["$filter"] == (
        "state eq 'active' or state eq 'preparing' or state eq 'running'"
        " or stateTransitionTime ge DateTime'2026-09-07T10:55:00Z'"
    )
    assert "environment" not in lists[0].query["$select"]
    assert len(requests) == 6, "three lists, the pool, its counts, the Batch jobs"


async def test_what_ended_before_the_lists_begin_is_asked_for_and_what_is_unknown_is_missing() -> None:
    service = Service()
    later = NOON + 86_400
    async with engine(service, later, scales=False) as batch:
        await batch.submit(order())
        service.end("digits-abc-1", exitCode=0, result="success")
        observed = await batch.status("gpu", [order().target, order("nowhere").target])

    assert {name: one.state for name, one in observed.items()} == {"digits-abc-1": JobState.SUCCEEDED}


async def test_cancel_ends_a_task_and_may_be_repeated() -> None:
    service = Service()
    async with engine(service) as batch:
        await batch.submit(order())
        for _ in range(2):
            await batch.cancel(order().target)
        observed = await batch.see(order().target)
        await batch.cancel(order("nowhere").target)

    assert (observed.state, observed.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert service.calls(f"POST {TASKS}/") == [f"POST {TASKS}/digits-abc-1/terminate"]


async def test_what_is_at_work_are_tasks_with_a_token_that_have_not_ended() -> None:
    service = Service()
    async with engine(service) as batch:
        for number in range(2):
            await batch.submit(
                order(f"n-{number}", f"t.{number}", schedulingPriority=("low", "high")[number])
            )
        service.end("n-0", exitCode=0)
        assert await batch.at_work("gpu") == {"n-1": "t.1"}


async def test_a_task_whose_node_was_taken_away_waits_as_the_same_attempt_and_says_so() -> None:
    service = Service()
    async with engine(service) as batch:
        await batch.submit(order())
        service.task("digits-abc-1")["executionInfo"]["requeueCount"] = 1
        observed = await batch.see(order().target)

    assert observed.state is JobState.QUEUED
    assert observed.why is not None
    assert observed.why.text.startswith("its nodes were taken away, and it runs again: ")


async def test_records_are_removed_by_one_small_task(tmp_path: Path) -> None:
    service = Service()
    attempts = tmp_path / "attempts" / "exp" / "digits-abc-1"
    attempts.mkdir(parents=True)
    place: dict[str, Any] = {
        "shared": str(tmp_path),
        "reads": {str(tmp_path): str(tmp_path)},
        "scales": False,
    }
    async with engine(service, NOON, **place) as batch:
        await batch.submit(order())
        service.end("digits-abc-1", exitCode=0)
        for _ in range(2):
            assert await batch.forget("gpu", [order().target]) == {"digits-abc-1"}
        (name,) = service.jobs["gpu-low"]
        attempts.rmdir()
        assert await batch.forget("gpu", [order().target]) == frozenset()
        service.end(name, exitCode=0)
        await batch.status("gpu", [])

    assert name.startswith("slipway-forget-")
    assert service.jobs == {"gpu-normal": {}, "gpu-low": {}}, "the small task is removed as well"


FORMULAS = ["POST /pools/t4/enableautoscale", "POST /pools/t4/evaluateautoscale"]


async def test_the_pool_gets_a_formula_for_its_tasks_once() -> None:
    service, now = Service(), [NOON]
    async with engine(service, now) as batch:
        await batch.submit(order(**WIDE))
        await batch.status("gpu", [])
        service.pool["targetDedicatedNodes"] = 3
        for _ in range(3):
            now[0] += 61
            await batch.status("gpu", [])

    assert "wideNodes = 3;" in service.pool["autoScaleFormula"]
    assert service.pool["autoScaleEvaluationInterval"] == "PT5M"
    assert service.calls("POST /pools") == FORMULAS


async def test_a_formula_is_written_again_while_too_few_nodes_come_but_not_at_once() -> None:
    service, now = Service(), [NOON]
    async with engine(service, now) as batch:
        await batch.submit(order())
        counts = []
        for seconds in (0, 31, 31, 31):
            now[0] += seconds
            await batch.status("gpu", [])
            counts.append(len(service.calls("POST /pools")))

    assert counts == [2, 2, 4, 4]


async def test_another_demand_waits_until_the_service_takes_another_formula() -> None:
    service, now = Service(), [NOON]
    async with engine(service, now) as batch:
        await batch.submit(order(**WIDE))
        await batch.status("gpu", [])
        service.pool["targetDedicatedNodes"] = 4
        service.end("digits-abc-1", exitCode=0)
        await batch.submit(order("digits-abc-2", "j_abc.2"))
        counts = []
        for seconds in (29, 1):
            now[0] += seconds
            await batch.status("gpu", [])
            counts.append(len(service.calls("POST /pools")))

    assert counts == [2, 4]
    assert "wideNodes = 0;" in service.pool["autoScaleFormula"]


async def test_where_nothing_is_to_do_the_pool_is_left_alone() -> None:
    service = Service()
    async with engine(service, NOON) as batch:
        await batch.status("gpu", [])

    assert [call for call in service.calls() if "pools" in call] == []


async def test_a_formula_that_cannot_be_evaluated_is_why_jobs_wait() -> None:
    message = {"name": "Message", "value": "Line 1, Col 1: Undefined symbol: x"}
    wrong = {"code": "AutoScalingFormulaEvaluationError", "values": [message]}
    service, now = Service(evaluation={"error": wrong}), [NOON]
    async with engine(service, now) as batch:
        await batch.submit(order())
        await batch.status("gpu", [])
        now[0] += 31
        observed = await batch.status("gpu", [order().target])

    reason = observed["digits-abc-1"].why
    assert reason is not None
    assert "AutoScalingFormulaEvaluationError: Line 1, Col 1: Undefined symbol: x" in reason.text


@pytest.mark.parametrize("status", [403, 503])
async def test_a_pool_that_may_not_be_scaled_fails_no_sweep(status: int) -> None:
    code = {403: "InsufficientAccountPermissions", 503: "TooManyEnableAutoScaleRequests"}[status]
    service = Service(fail={"POST /pools/t4/enableautoscale": (status, error(code))})
    now = [NOON]
    async with engine(service, now) as batch:
        await batch.submit(order())
        await batch.status("gpu", [])
        now[0] += 31
        observed = await batch.status("gpu", [order().target])

    reason = observed["digits-abc-1"].why
    assert reason is not None
    assert (code in reason.text) == (status == 403), "what passes by itself is not a reason"


async def test_nothing_else_is_asked_of_the_service_than_the_settings_allow() -> None:
    service = Service()
    async with engine(service, NOON, scales=False) as batch:
        await batch.submit(order())
        await batch.status("gpu", [order().target])

    assert service.calls("POST /pools") == []


async def test_an_unknown_cluster_is_ours_to_mend() -> None:
    async with engine(Service()) as batch:
        with pytest.raises(Misconfigured, match="no cluster 'nowhere' on Azure Batch"):
            await batch.nodes("nowhere")


async def test_a_list_asks_for_no_longer_pages_than_the_service_gives() -> None:
    service = Service(counts={"dedicated": {"idle": 1}})
    async with engine(service) as batch:
        view = await batch.nodes("gpu")

    assert service.account is not None
    pages = {
        one.path: one.query["maxresults"] for one in service.account.requests if "maxresults" in one.query
    }
    assert pages == {"/nodecounts": "10"}
    assert view.counts["idle"] == 1
