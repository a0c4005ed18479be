"""A job on several nodes of which only some pods exist: it is queued, and says what it waits for."""

from __future__ import annotations

from typing import Any

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until


def is_partly_there(observation: Observation) -> bool:
    return observation.why is not None and "pods are there" in observation.why.text


def quota(pods: int) -> Any:
    return {"metadata": {"name": "q"}, "spec": {"hard": {"pods": str(pods)}}}


async def test_ranks_without_the_others_are_queued_and_run_when_all_are_there(where: Running) -> None:
    engine = engine_on(where)
    others = [order("sleep 60", name=f"other-{number}") for number in range(2)]
    for one in others:
        await engine.submit(one)
        await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    gang = order("wc -w <<< ${AZ_BATCH_HOST_LIST//,/ }", nodes=3)
    await engine.submit(gang)
    waits = await until(engine, gang.target, is_partly_there)
    listed = [(await engine.status(NAME, [gang.target]))[gang.target.name] for _ in range(3)]
    await engine.cancel(others[0].target)
    end = await until(engine, gang.target, is_over)
    await engine.cancel(others[1].target)
    await engine.close()

    assert waits.state is JobState.QUEUED
    assert waits.why is not None
    assert waits.why.word == "Unschedulable"
    assert waits.why.text.startswith("2 of 3 pods are there: no node of the cluster has what it asks for")
    assert [one.why for one in listed] == [waits.why] * 3
    assert {one.state for one in listed} == {JobState.QUEUED}
    assert (end.state, end.exit_code) == (JobState.SUCCEEDED, 0)


async def test_ranks_that_a_quota_does_not_allow_are_named(where: Running) -> None:
    engine = engine_on(where)
    where.server.store.add("resourcequotas", "slipway", quota(2))
    gang = order("true", nodes=3)
    await engine.submit(gang)
    waits = await until(engine, gang.target, is_partly_there)
    listed = (await engine.status(NAME, [gang.target]))[gang.target.name]
    await engine.cancel(gang.target)
    await until(engine, gang.target, is_over)
    await engine.close()

    assert waits.why is not None
    assert (waits.state, waits.why.word) == (JobState.QUEUED, "QuotaExceeded")
    assert waits.why.text.startswith("2 of 3 pods are there: a quota of its namespace is used up")
    assert listed.why == waits.why


async def test_a_job_that_runs_on_all_its_nodes_is_not_queued_again(where: Running) -> None:
    engine = engine_on(where)
    gang = order("sleep 60", nodes=3)
    await engine.submit(gang)
    await until(engine, gang.target, lambda observation: observation.state is JobState.RUNNING)
    states = {(await engine.status(NAME, [gang.target]))[gang.target.name].state for _ in range(3)}
    await engine.cancel(gang.target)
    await until(engine, gang.target, is_over)
    await engine.close()

    assert states == {JobState.RUNNING}


async def test_at_the_limit_the_reason_says_that_it_never_began(where: Running) -> None:
    engine = engine_on(where)
    limits = where.server.store.add("resourcequotas", "slipway", quota(0))
    gang = order("true", nodes=3)
    await engine.submit(gang)
    job = where.server.store.get("jobs", "slipway", gang.target.name)
    job["spec"]["template"]["spec"]["activeDeadlineSeconds"] = 2
    limits["spec"] = quota(2)["spec"]
    end = await until(engine, gang.target, is_over)
    await engine.close()

    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert end.message == "it never began: some of its 3 pods were missing until the wall-clock limit"
