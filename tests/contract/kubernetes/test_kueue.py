"""Jobs of a LocalQueue: they wait without a pod, start together, are requeued, and cancelled for good."""

from __future__ import annotations

import time
from typing import Any

import pytest

from shared.core.errors import Transient
from shared.core.job import JobState, Reason
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until

_PRIORITIES = {"low": -500, "normal": 0, "high": 500}


def queue_on(where: Running, quota: int = 4, **options: Any) -> KubernetesEngine:
    """An engine whose jobs go to a LocalQueue with so many GPUs."""
    store = where.server.store
    where.server.kueue.is_installed = True
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": quota}]
    flavors = [{"name": "gpu", "resources": resources}]
    store.add(
        "clusterqueues", "", {"metadata": {"name": "cq"}, "spec": {"resourceGroups": [{"flavors": flavors}]}}
    )
    store.add("localqueues", "slipway", {"metadata": {"name": "team"}, "spec": {"clusterQueue": "cq"}})
    for name, value in _PRIORITIES.items():
        store.add("workloadpriorityclasses", "", {"metadata": {"name": name}, "value": value})
    return engine_on(
        where, **{"queue": "team", "priorities": {name: name for name in _PRIORITIES}, **options}
    )


async def test_a_gang_waits_without_a_pod_until_there_is_room_for_all_of_it(where: Running) -> None:
    engine = queue_on(where, 2)
    first, second = order("sleep 60", name="a-1", nodes=2), order("true", name="b-1", nodes=2)
    await engine.submit(first)
    await until(engine, first.target, lambda observation: observation.state is JobState.RUNNING)
    await engine.submit(second)
    waits = await until(
        engine,
        second.target,
        lambda observation: observation.why is not None and observation.why.word == "WaitingForQuota",
    )
    listed = await engine.status(NAME, [first.target, second.target])
    pods = {one["metadata"]["labels"]["job-name"] for one in where.server.store.all("pods")}
    await engine.cancel(first.target)
    end = await until(engine, second.target, is_over)
    await engine.close()

    assert listed["b-1"].why == waits.why
    assert listed["a-1"].state is JobState.RUNNING
    assert pods == {"a-1"}
    assert end.state is JobState.SUCCEEDED


@pytest.mark.parametrize(
    ("nodes", "options", "word", "never"),
    [
        (4, {}, "ExceedsMaxQuota", True),
        (1, {"queue": "nowhere"}, "Misconfigured", True),
        (1, {"priorities": {"normal": "nowhere"}}, "NoWorkload", False),
    ],
)
async def test_why_a_job_never_gets_quota(
    where: Running, nodes: int, options: dict[str, Any], word: str, never: bool
) -> None:
    # A minute later: Kueue says nothing of a Job that it does not take.
    engine = queue_on(where, 2, clock=lambda: time.time() + 61, **options)
    one = order("true", nodes=nodes)
    await engine.submit(one)
    observation = await until(
        engine, one.target, lambda observation: observation.why is not None and observation.why.word == word
    )
    await engine.close()

    assert observation.why is not None
    assert observation.why.never is never
    assert where.server.store.all("pods") == []


async def test_a_preempted_job_is_queued_again_in_the_same_attempt(where: Running) -> None:
    engine = queue_on(where, 1)
    low = order(
        "if test -e $AZ_BATCHAI_MOUNT_ROOT/again; then exit 0; fi; "
        "touch $AZ_BATCHAI_MOUNT_ROOT/again; sleep 60",
        name="low-1",
        schedulingPriority="low",
    )
    high = order("sleep 1", name="high-1", schedulingPriority="high")
    await engine.submit(low)
    await until(engine, low.target, lambda observation: observation.state is JobState.RUNNING)
    while not (where.shared / "mounts" / "again").exists():
        await until(engine, low.target, lambda observation: True)
    await engine.submit(high)
    waits = await until(engine, low.target, lambda observation: observation.state is JobState.QUEUED)
    ended = await until(engine, high.target, is_over)
    end = await until(engine, low.target, is_over)
    await engine.close()

    assert waits.why is not None
    assert (ended.state, end.state, end.exit_code) == (JobState.SUCCEEDED, JobState.SUCCEEDED, 0)


@pytest.mark.parametrize("quota", [1, 0])
async def test_a_cancelled_job_is_never_resumed_by_kueue(where: Running, quota: int) -> None:
    engine = queue_on(where, quota)
    one, next_one = order("sleep 60"), order("true", name="next-1")
    await engine.submit(one)
    state = JobState.RUNNING if quota else JobState.QUEUED
    await until(
        engine,
        one.target,
        lambda observation: observation.state is state and bool(where.server.store.all("workloads")),
    )
    await engine.cancel(one.target)
    end = await until(engine, one.target, is_over)
    listed = (await engine.status(NAME, [one.target]))[one.target.name]
    if quota:
        await engine.submit(next_one)
        await until(engine, next_one.target, is_over)  # the quota is free, and the first one does not take it
    await engine.close()

    assert (end.state, end.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert listed == end
    job = where.server.store.get("jobs", "slipway", one.target.name)
    assert job["spec"]["suspend"] is True


async def test_while_its_webhook_fails_nothing_is_made_and_the_same_submission_succeeds_later(
    where: Running,
) -> None:
    engine = queue_on(where)
    where.server.kueue.is_down = True
    with pytest.raises(Transient, match="failed calling webhook"):
        await engine.submit(order("true"))
    assert where.server.store.all("jobs") == []
    where.server.kueue.is_down = False
    await engine.submit(order("true"))
    end = await until(engine, order("true").target, is_over)
    await engine.close()

    assert end.state is JobState.SUCCEEDED


async def test_without_kueue_a_job_of_a_queue_says_why_it_waits_and_can_be_cancelled(where: Running) -> None:
    engine = engine_on(where, queue="team", clock=lambda: time.time() + 3600)
    one = order("true")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.why is not None)
    waits = (await engine.status(NAME, [one.target]))[one.target.name]
    await engine.cancel(one.target)
    end = await until(engine, one.target, is_over)
    await engine.close()

    assert waits.why is not None
    assert (waits.why.word, end.state) == ("NoWorkload", JobState.CANCELLED)
    assert "does Kueue run?" in waits.why.text


async def test_after_kueue_is_removed_ends_are_found_and_jobs_can_be_cancelled(where: Running) -> None:
    engine = queue_on(where, quota=1)
    runs, waits = order("sleep 60"), order("true", name="next-1")
    targets = [runs.target, waits.target]
    await engine.submit(runs)
    await until(engine, runs.target, lambda observation: observation.state is JobState.RUNNING)
    await engine.submit(waits)
    await until(engine, waits.target, lambda observation: observation.why is not None)
    await engine.status(NAME, targets)
    where.server.kueue.is_installed = False

    states = {name: one.state for name, one in (await engine.status(NAME, targets)).items()}
    for target in targets:
        await engine.cancel(target)
    ends = [await until(engine, target, is_over) for target in targets]
    await engine.close()

    assert states == {runs.target.name: JobState.RUNNING, waits.target.name: JobState.QUEUED}
    assert [end.state for end in ends] == [JobState.CANCELLED] * 2
