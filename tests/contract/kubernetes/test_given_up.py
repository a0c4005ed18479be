"""Attempts that are given up: on a lost node, or without their image. What is left of them ends first."""

from __future__ import annotations

import time

from shared.core.engine import Order
from shared.core.job import JobState, Reason
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until
from tests.doubles.kubernetes.errors import Refusal


async def on_a_lost_node(where: Running, engine: KubernetesEngine) -> Order:
    """A job whose one pod ran on a node that is lost now."""
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    (pod,) = where.server.store.all("pods")
    where.server.nodes.lose(pod["spec"]["nodeName"])
    return one


async def test_a_job_of_a_lost_node_is_given_up_after_ten_minutes_and_not_before(where: Running) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    one = await on_a_lost_node(where, engine)

    before = (await engine.status(NAME, [one.target]))[one.target.name]
    now[0] += 700
    after = (await engine.status(NAME, [one.target]))[one.target.name]
    jobs = where.server.store.all("jobs")
    await engine.close()

    assert before.state is JobState.RUNNING
    assert before.why is not None
    assert before.why.word == "NodeSilent", "what is dead saves nothing"
    assert (after.state, after.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert "does not answer any more" in after.message
    assert len(jobs) == 1


async def test_an_attempt_on_a_silent_node_says_since_when_and_ends_on_the_others_before_it_is_given_up(
    where: Running,
) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    where.server.store.clock = lambda: now[0]
    gang = order("sleep 60", nodes=2)
    await engine.submit(gang)
    await until(engine, gang.target, lambda observation: observation.state is JobState.RUNNING)
    store, name = where.server.store, gang.target.name
    _, second = store.all("pods")
    where.server.nodes.lose(second["spec"]["nodeName"])
    now[0] += 120
    silent = (await engine.status(NAME, [gang.target]))[name]
    assert store.get("jobs", "slipway", name)["spec"]["suspend"] is False
    now[0] += 600
    first_look = (await engine.status(NAME, [gang.target]))[name]
    end = await until(engine, gang.target, is_over)
    names = [pod["metadata"]["name"] for pod in store.all("pods")]
    again = await engine.submit(gang)
    job = store.get("jobs", "slipway", name)
    where.server.nodes.silent.clear()
    where.server.nodes.reconcile()
    later = await engine.see(gang.target)
    await engine.close()

    assert silent.why is not None
    node = second["spec"]["nodeName"]
    assert silent.state is JobState.RUNNING
    assert silent.why.text.startswith(f"{node} has not answered since ")
    assert silent.why.text.endswith(" UTC if that stays so")
    assert first_look.state is JobState.RUNNING
    assert names == [second["metadata"]["name"]]
    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert again is not None
    assert (again.state, later.state) == (JobState.FAILED, JobState.FAILED)
    assert job["spec"]["suspend"] is True
    assert "slipway/cancelled" not in job["metadata"]["annotations"]


async def test_an_image_that_cannot_be_fetched_ends_the_job_after_a_bound_and_frees_its_gpu(
    where: Running,
) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    where.server.store.clock = lambda: now[0]
    where.server.nodes.absent_images = {"registry.example/none:1"}
    image = {"imageSourceRegistry": {"image": "registry.example/none:1"}}
    one = order("true", containerSettings=image)
    await engine.submit(one)
    waits = await until(engine, one.target, lambda observation: observation.why is not None)
    now[0] += 29 * 60
    before = (await engine.status(NAME, [one.target]))[one.target.name]
    now[0] += 2 * 60
    end = await until(engine, one.target, is_over)
    again = await engine.submit(one)
    await engine.close()

    assert waits.why is not None
    assert (waits.why.word, before.state) == ("ImagePullBackOff", JobState.QUEUED)
    assert (end.state, end.reason) == (JobState.FAILED, Reason.UNSUPPORTED)
    assert end.message.startswith("given up after 30 minutes on its node: its image cannot be fetched (")
    assert again is not None
    assert again.state is JobState.FAILED
    assert where.server.store.all("pods") == []


async def test_a_volume_that_cannot_be_mounted_is_named_and_ends_the_attempt_after_a_bound(
    where: Running,
) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    where.server.store.clock = lambda: now[0]
    where.server.nodes.absent_volumes = {"data"}
    one = order("true")
    await engine.submit(one)
    new = await until(engine, one.target, lambda observation: observation.why is not None)
    now[0] += 2 * 60
    waits = (await engine.status(NAME, [one.target]))[one.target.name]
    assert waits.why is not None
    now[0] += 29 * 60
    end = await until(engine, one.target, is_over)
    await engine.close()

    assert new.why is not None
    assert (new.why.word, new.why.passes) == ("ContainerCreating", True)
    assert (waits.state, waits.why.word, waits.why.passes) == (JobState.QUEUED, "FailedMount", False)
    assert waits.why.text.startswith("a volume of its pods cannot be mounted (MountVolume.SetUp failed for")
    assert (end.state, end.reason) == (JobState.FAILED, Reason.INFRASTRUCTURE)
    assert end.message.startswith("given up after 30 minutes on its node: a volume of its pods cannot be")
    assert where.server.store.all("pods") == []


async def test_a_lost_attempt_whose_job_cannot_be_suspended_has_not_ended(where: Running) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    one = await on_a_lost_node(where, engine)
    now[0] += 700
    busy = Refusal(503, "ServiceUnavailable", "no")
    where.server.fault = lambda method, *_: busy if method == "PATCH" else None
    before = await engine.see(one.target)
    where.server.fault = lambda *_: None
    after = await engine.see(one.target)
    await engine.close()

    assert (before.state, after.state) == (JobState.RUNNING, JobState.FAILED)


async def test_a_given_up_attempt_is_at_work_as_long_as_it_has_pods(where: Running) -> None:
    now = [time.time()]
    engine = engine_on(where, clock=lambda: now[0])
    one = await on_a_lost_node(where, engine)
    now[0] += 700
    end = await until(engine, one.target, is_over)
    before = await engine.at_work(NAME)
    where.server.store.remove("pods", *where.server.store.all("pods"))  # with its node
    after = await engine.at_work(NAME)
    await engine.close()

    assert end.state is JobState.FAILED
    assert (before, after) == ({one.target.name: one.target.token}, {})
