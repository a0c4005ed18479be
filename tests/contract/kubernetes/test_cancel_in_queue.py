"""A cancelled job never comes back from its queue, whichever of Kueue's parts did not answer meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from local.patience import Patience
from shared.core.engine import Observation, Order
from shared.core.errors import EngineError, Misconfigured, Transient
from shared.core.job import JobState, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until
from tests.contract.kubernetes.test_kueue import queue_on
from tests.doubles.kubernetes.conditions import holds
from tests.doubles.kubernetes.errors import Refusal

_LATER = 61.0


async def swept(engine: KubernetesEngine, target: Target) -> Observation:
    """Its end, where the cancel is repeated as the sweeper does it."""
    patience = Patience(60.0)
    while not is_over(observation := (await engine.status(NAME, [target]))[target.name]):
        assert not patience.is_over(observation), observation
        with suppress(EngineError):
            await engine.cancel(target)
        await asyncio.sleep(0.05)
    return observation


async def rounds(where: Running, until_so: Callable[[], bool]) -> None:
    """Let the controllers work until it is so, and a while longer."""
    patience = Patience(60.0)
    while not until_so():
        assert not patience.is_over(None)
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)


def workloads(where: Running) -> list[Any]:
    return where.server.store.all("workloads")


def no_rights(method: str, path: str, query: dict[str, str]) -> Refusal | None:
    """The answers to an account whose Role does not have Workloads."""
    if not path.endswith("/workloads") and "/workloads/" not in path:
        return None
    text = 'workloads.kueue.x-k8s.io is forbidden: User "slipway" cannot list resource "workloads"'
    return Refusal(403, "Forbidden", text)


async def test_one_that_was_cancelled_before_kueue_saw_it_ends_when_its_workload_is_deactivated(
    where: Running,
) -> None:
    engine = queue_on(where, 1)
    one, after = order("sleep 60"), order("true", name="next-1")
    where.server.kueue.is_behind = True
    await engine.submit(one)
    await engine.cancel(one.target)
    early = (await engine.status(NAME, [one.target]))[one.target.name]
    where.server.kueue.is_behind = False
    end = await swept(engine, one.target)
    await engine.submit(after)
    last = await until(engine, after.target, is_over)
    await engine.close()

    assert (early.state, end.state, last.state) == (JobState.QUEUED, JobState.CANCELLED, JobState.SUCCEEDED)
    (own,) = [each for each in workloads(where) if one.target.name in each["metadata"]["name"]]
    assert own["spec"]["active"] is False
    assert where.server.store.get("jobs", "slipway", one.target.name)["spec"]["suspend"] is True


async def test_one_that_kueue_resumes_long_after_its_end_has_no_pods_and_no_quota(where: Running) -> None:
    engine = queue_on(where, 1, clock=lambda: time.time() + _LATER)
    one, after = order("sleep 60"), order("true", name="next-1")
    where.server.kueue.is_behind = True
    await engine.submit(one)
    end = await swept(engine, one.target)
    where.server.kueue.is_behind = False
    await rounds(where, lambda: bool(workloads(where)) and holds(workloads(where)[0], "Admitted"))
    pods = where.server.store.all("pods")
    at_work = await engine.at_work(NAME)
    await engine.submit(after)
    last = await until(engine, after.target, is_over)
    await engine.close()

    assert (end.state, last.state) == (JobState.CANCELLED, JobState.SUCCEEDED)
    assert (pods, at_work) == ([], {})


@pytest.mark.parametrize("quota", [1, 0])
async def test_while_a_webhook_does_not_answer_no_end_is_declared(where: Running, quota: int) -> None:
    engine = queue_on(where, quota)
    one, after = order("sleep 60"), order("true", name="next-1")
    await engine.submit(one)
    state = JobState.RUNNING if quota else JobState.QUEUED
    await until(engine, one.target, lambda seen_now: seen_now.state is state and bool(workloads(where)))
    changes = iter([None])  # that of the Job succeeds

    def fault(method: str, path: str, query: dict[str, str]) -> Refusal | None:
        if method != "PATCH" or next(changes, "no") is None:
            return None
        return Refusal(500, "InternalError", 'failed calling webhook "vworkload.kb.io": connection refused')

    where.server.fault = fault
    with pytest.raises(Transient):
        await engine.cancel(one.target)
    early = (await engine.status(NAME, [one.target]))[one.target.name]
    where.server.fault = lambda *_: None
    end = await swept(engine, one.target)
    if quota:
        await engine.submit(after)
        await until(engine, after.target, is_over)
    await engine.close()

    assert early.state is state
    assert end.state is JobState.CANCELLED
    assert [each["spec"]["active"] for each in workloads(where)][:1] == [False]


@pytest.mark.parametrize("begins", [True, False])
async def test_without_the_right_to_workloads_the_job_is_ended_all_the_same_and_the_error_is_raised(
    where: Running, begins: bool
) -> None:
    late = 0.0
    engine = queue_on(where, 1, clock=lambda: time.time() + late)
    one, after = order("sleep 60"), order("true", name="next-1")
    where.server.kueue.is_behind = not begins
    where.server.fault = no_rights
    await engine.submit(one)
    if begins:
        await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    with pytest.raises(Misconfigured, match="Role"):
        await engine.cancel(one.target)
    late = _LATER
    end = await swept(engine, one.target)
    where.server.kueue.is_behind = False
    await rounds(where, lambda: bool(workloads(where)))
    living = [pod for pod in where.server.store.all("pods") if "deletionTimestamp" not in pod["metadata"]]
    await engine.submit(after)
    last = await until(engine, after.target, is_over)
    await engine.close()

    assert (end.state, living, last.state) == (JobState.CANCELLED, [], JobState.SUCCEEDED)


async def test_a_job_whose_end_is_recorded_is_at_work_as_long_as_it_has_a_pod(where: Running) -> None:
    engine = queue_on(where, 1)
    one = order("sleep 60")
    where.server.kueue.is_behind = True
    await engine.submit(one)
    job = where.server.store.get("jobs", "slipway", one.target.name)
    job["metadata"]["labels"] |= {"slipway/ended": "true"}
    before = await engine.at_work(NAME)
    where.server.kueue.is_behind = False
    await rounds(where, lambda: bool(where.server.store.all("pods")))
    during = await engine.at_work(NAME)
    await engine.close()

    assert (before, during) == ({}, {one.target.name: one.target.token})


async def test_one_that_runs_ends_although_no_controller_of_kueue_stops_it(where: Running) -> None:
    engine = queue_on(where, 1)
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    where.server.kueue.is_behind = True
    end = await swept(engine, one.target)
    await engine.close()

    assert end.state is JobState.CANCELLED


@pytest.mark.parametrize("runs", [True, False])
async def test_a_workload_that_is_deleted_after_the_end_brings_nothing_back(
    where: Running, runs: bool
) -> None:
    engine = queue_on(where, 1)
    before, one = order("sleep 60", name="before-1"), order("sleep 60")
    if not runs:
        await engine.submit(before)
        await until(engine, before.target, lambda observation: observation.state is JobState.RUNNING)
    await engine.submit(one)
    state = JobState.RUNNING if runs else JobState.QUEUED
    await until(
        engine, one.target, lambda observed: observed.state is state and bool(_workloads_of(where, one))
    )
    await engine.cancel(one.target)
    end = await until(engine, one.target, is_over)
    (first,) = _workloads_of(where, one)
    where.server.store.remove("workloads", first)
    await rounds(where, lambda: bool(_workloads_of(where, one)))
    pods = [pod for pod in where.server.store.all("pods") if one.target.name in pod["metadata"]["name"]]
    if not runs:
        await engine.cancel(before.target)
    after = order("true", name="next-1")
    await engine.submit(after)
    last = await until(engine, after.target, is_over)
    await engine.close()

    assert (end.state, pods, last.state) == (JobState.CANCELLED, [], JobState.SUCCEEDED)


async def test_an_attempt_that_was_given_up_does_not_come_back_from_its_queue(where: Running) -> None:
    now = [time.time()]
    engine = queue_on(where, 1, clock=lambda: now[0])
    one, after = order("sleep 60"), order("true", name="next-1")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    (pod,) = where.server.store.all("pods")
    where.server.nodes.lose(pod["spec"]["nodeName"])
    now[0] += 700
    end = await until(engine, one.target, is_over)
    where.server.store.remove("workloads", _workloads_of(where, one)[0])
    where.server.store.remove("pods", pod)  # with its node
    await rounds(where, lambda: bool(_workloads_of(where, one)))
    await engine.submit(after)
    last = await until(engine, after.target, is_over)
    await engine.close()

    assert (end.state, last.state) == (JobState.FAILED, JobState.SUCCEEDED)
    assert not [
        each for each in where.server.store.all("pods") if one.target.name in each["metadata"]["name"]
    ]


def _workloads_of(where: Running, one: Order) -> list[Any]:
    return [each for each in workloads(where) if one.target.name in each["metadata"]["name"]]


async def test_a_queue_that_left_the_settings_resumes_no_cancelled_job(where: Running) -> None:
    with_queue, without = queue_on(where, 1), engine_on(where)
    one = order("sleep 60")
    await with_queue.submit(one)
    await until(with_queue, one.target, lambda observation: observation.state is JobState.RUNNING)
    end = await swept(without, one.target)
    await rounds(where, lambda: not where.server.store.all("pods"))
    await with_queue.close()
    await without.close()

    assert end.state is JobState.CANCELLED
    assert [each["spec"]["active"] for each in workloads(where)] == [False]
