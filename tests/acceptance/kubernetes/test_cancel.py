"""A job on a real Kubernetes is cancelled in each of its states: it ends so, and keeps its name."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from local.kubernetes import Kubernetes
from local.kubernetes.api import Refused
from local.patience import Patience
from shared.core.engine import Observation
from shared.core.job import JobState, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.translation.silence import LOST_AFTER
from tests.acceptance.kubernetes.jobs import PATIENCE
from tests.acceptance.kubernetes.on_cluster import engine_on
from tests.acceptance.kubernetes.test_images import end_of, order

pytestmark = pytest.mark.asyncio(loop_scope="session")

_QUOTAS = "/api/v1/namespaces/slipway/resourcequotas"


@pytest_asyncio.fixture(loop_scope="session")
async def no_pods(cluster: Kubernetes) -> AsyncIterator[None]:
    """The namespace may have no pods, as the admission of the server knows it."""
    name = f"q-{uuid.uuid4().hex[:8]}"
    quota = {"metadata": {"name": name}, "spec": {"hard": {"pods": "0"}}}
    await cluster.api.insist("POST", _QUOTAS, quota)
    pod = {"metadata": {"generateName": "probe-"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    patience = Patience(PATIENCE)
    while True:
        try:
            await cluster.api.call("POST", "/api/v1/namespaces/slipway/pods?dryRun=All", pod)
        except Refused:
            break
        assert not patience.is_over(None)
        await asyncio.sleep(0.1)
    yield
    await cluster.api.insist("DELETE", f"{_QUOTAS}/{name}")


async def _until(
    engine: KubernetesEngine, target: Target, expected: Callable[[Observation], bool]
) -> Observation:
    patience = Patience(PATIENCE)
    while not expected(observation := await engine.see(target)):
        assert not patience.is_over(observation), observation
        await asyncio.sleep(0.1)
    return observation


async def _end_after_cancel(engine: KubernetesEngine, target: Target) -> Observation:
    await engine.cancel(target)
    await engine.cancel(target)
    return await end_of(engine, target)


@pytest.mark.usefixtures("no_pods")
@pytest.mark.parametrize("says_why", [True, False])
async def test_a_job_that_gets_no_pods(cluster: Kubernetes, says_why: bool) -> None:
    engine = engine_on(cluster, gpus=0)
    one = order("true")
    await engine.submit(one)
    if says_why:
        observation = await _until(engine, one.target, lambda each: each.why is not None)
        assert observation.why is not None
        assert observation.why.word == "QuotaExceeded"

    end = await _end_after_cancel(engine, one.target)
    again = await engine.submit(one)
    await engine.close()

    assert end.state is JobState.CANCELLED
    assert again is not None
    assert again.state is JobState.CANCELLED


async def test_a_job_that_fits_nowhere(cluster: Kubernetes) -> None:
    engine = engine_on(cluster, gpus=9)
    one = order("true")
    await engine.submit(one)
    await _until(engine, one.target, lambda each: each.why is not None)

    end = await _end_after_cancel(engine, one.target)
    await engine.close()

    assert end.state is JobState.CANCELLED


@pytest.mark.parametrize("command", ["sleep 600", "trap '' TERM; while :; do sleep 1; done"])
async def test_a_job_that_runs_and_one_that_does_not_end_when_it_is_asked(
    cluster: Kubernetes, command: str
) -> None:
    engine = engine_on(cluster, gpus=0)
    one = order(command)
    await engine.submit(one)
    await _until(engine, one.target, lambda each: each.state is JobState.RUNNING)

    end = await _end_after_cancel(engine, one.target)
    await engine.close()

    assert end.state is JobState.CANCELLED


async def test_a_job_whose_node_is_lost(cluster: Kubernetes) -> None:
    """Its pod stays until the node is removed: after ten minutes nothing more is waited for."""
    engine = engine_on(cluster, gpus=0, unreachable_seconds=1)
    one = order("sleep 600")
    await engine.submit(one)
    await _until(engine, one.target, lambda each: each.state is JobState.RUNNING)
    pods = await cluster.api.insist(
        "GET", f"/api/v1/namespaces/slipway/pods?labelSelector=job-name%3D{one.target.name}"
    )
    node = pods["items"][0]["spec"]["nodeName"]
    await cluster.kill_node(node)
    await engine.cancel(one.target)

    early = await engine.see(one.target)
    later = engine_on(cluster, gpus=0, clock=lambda: time.time() + LOST_AFTER.total_seconds() + PATIENCE)
    end = await end_of(later, one.target)
    await cluster.start_node(node)
    await engine.close()
    await later.close()

    assert early.state is JobState.RUNNING
    assert end.state is JobState.CANCELLED
