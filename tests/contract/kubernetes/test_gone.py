"""A Job that is gone: the record on the volume says how its run ended."""

from __future__ import annotations

import asyncio

import pytest

from local.patience import Patience
from shared.core.engine import Observation, Why
from shared.core.errors import NotFound
from shared.core.job import JobState, Reason, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until
from tests.doubles.kubernetes.conditions import holds
from tests.doubles.kubernetes.requests import Subject

_ORPHANED = "its Job was deleted on the cluster, and its pods go on"


def delete(where: Running, name: str) -> None:
    where.server.api.delete(Subject("jobs", "slipway", name), {"propagationPolicy": "Background"}, {})


async def until_complete(where: Running, name: str) -> None:
    """Until the Job has ended, without a look of ours."""
    patience, job = Patience(60.0), where.server.store.get("jobs", "slipway", name)
    while not (holds(job, "Complete") or holds(job, "Failed")):
        assert not patience.is_over(None)
        await asyncio.sleep(0.05)


async def listed_end(engine: KubernetesEngine, target: Target) -> Observation:
    """Its observation, as soon as there is one."""
    patience = Patience(60.0)
    while not (listed := await engine.status(NAME, [target])):
        assert not patience.is_over(None)
        await asyncio.sleep(0.05)
    return listed[target.name]


@pytest.mark.parametrize(
    ("command", "state", "reason", "code"),
    [("true", JobState.SUCCEEDED, None, 0), ("exit 3", JobState.FAILED, Reason.USER, 3)],
)
@pytest.mark.parametrize("nodes", [1, 2])
async def test_the_record_decides_how_it_ended(
    where: Running, command: str, state: JobState, reason: Reason | None, code: int, nodes: int
) -> None:
    engine = engine_on(where)
    one = order(command, nodes=nodes)
    await engine.submit(one)
    await until_complete(where, one.target.name)
    delete(where, one.target.name)
    listed = (await engine.status(NAME, [one.target]))[one.target.name]
    end = await engine.see(one.target)
    await engine.close()

    assert listed == end
    assert (end.state, end.reason, end.exit_code) == (state, reason, code)
    assert end.segment
    assert end.ended is not None


async def test_one_that_is_deleted_while_it_runs_was_cancelled_on_the_cluster(where: Running) -> None:
    engine = engine_on(where)
    one = order("touch $AZ_BATCHAI_MOUNT_ROOT/began; sleep 60")
    await engine.submit(one)
    patience = Patience(60.0)
    while not (where.shared / "mounts" / "began").exists():
        assert not patience.is_over(None)
        await asyncio.sleep(0.05)
    delete(where, one.target.name)
    end = await listed_end(engine, one.target)
    await engine.close()

    assert (end.state, end.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert where.server.store.all("pods") == []


@pytest.mark.parametrize("sees_records", [True, False])
async def test_pods_that_a_deletion_leaves_go_on_are_counted_and_end_with_a_cancellation(
    where: Running, sees_records: bool
) -> None:
    engine = engine_on(where) if sees_records else engine_on(where, reads={})
    one, pods = order("sleep 60", nodes=where.most), where.server.store.all
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    where.server.api.delete(Subject("jobs", "slipway", one.target.name), {"propagationPolicy": "Orphan"}, {})
    listed = (await engine.status(NAME, [one.target]))[one.target.name]
    other = one.target.model_copy(update={"token": "j_other.1"})

    assert (listed.state, listed.why) == (JobState.RUNNING, Why("JobDeleted", _ORPHANED))
    assert await engine.see(one.target) == listed
    assert await engine.at_work(NAME) == {one.target.name: one.target.token}
    assert await engine.status(NAME, [other]) == {}
    await engine.cancel(other)
    assert not any("deletionTimestamp" in pod["metadata"] for pod in pods("pods"))
    await engine.cancel(one.target)
    assert all("deletionTimestamp" in pod["metadata"] for pod in pods("pods"))
    await engine.close()


@pytest.mark.parametrize("nodes", [1, 2])
async def test_pods_that_a_deletion_leaves_may_end_by_themselves(where: Running, nodes: int) -> None:
    engine, gate = engine_on(where), where.shared / "mounts" / "go"
    command = "until [ -e $AZ_BATCHAI_MOUNT_ROOT/go ]; do sleep 0.05; done; exit 3"
    one = order(command, nodes=nodes if where.most > 1 else 1)
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    where.server.api.delete(Subject("jobs", "slipway", one.target.name), {"propagationPolicy": "Orphan"}, {})
    assert (await engine.see(one.target)).state is JobState.RUNNING
    gate.touch()
    end = await until(engine, one.target, is_over)
    pods = [pod for pod in where.server.store.all("pods") if pod["status"]["phase"] == "Running"]
    await engine.close()

    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.USER, 3)
    assert all("deletionTimestamp" in pod["metadata"] for pod in pods)


async def test_what_is_forgotten_does_not_go_on(where: Running) -> None:
    engine = engine_on(where)
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    where.server.api.delete(Subject("jobs", "slipway", one.target.name), {"propagationPolicy": "Orphan"}, {})
    await engine.forget(NAME, [one.target])
    pods = where.server.store.all("pods")
    await engine.close()

    ours = [pod for pod in pods if pod["metadata"]["name"].startswith(one.target.name)]
    assert all("deletionTimestamp" in pod["metadata"] for pod in ours)


async def test_one_without_a_record_or_with_that_of_another_is_not_known(where: Running) -> None:
    engine, blind = engine_on(where), engine_on(where, reads={})
    one, never = order("true"), order("true", name="never-1")
    await engine.submit(one)
    await until(engine, one.target, is_over)
    delete(where, one.target.name)
    other = one.target.model_copy(update={"token": "j_other.1"})
    listed = await engine.status(NAME, [never.target, other])
    unseen = await blind.status(NAME, [one.target])
    with pytest.raises(NotFound):
        await engine.see(never.target)
    await engine.close()
    await blind.close()

    assert (listed, unseen) == ({}, {})
