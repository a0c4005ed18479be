"""What the engine makes of Kubernetes beyond the contract: gangs, ends, lost nodes, cancellation, quotas."""

from __future__ import annotations

import time

import pytest

from shared.core.engine import Why
from shared.core.errors import Misconfigured, Saturated, Transient
from shared.core.job import JobState, Reason
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.on_kubernetes import running as started
from tests.contract.kubernetes.orders import is_over, order, until
from tests.doubles.kubernetes.errors import Refusal
from tests.doubles.kubernetes.server import CUT_AFTER

SECRETS = "secrets"


async def test_programs_that_others_delete_are_made_again(where: Running) -> None:
    now = [time.time()]
    engine, second = engine_on(where, clock=lambda: now[0]), order("true", name="second-1")
    await engine.submit(order("true"))
    for one in where.server.store.all("configmaps"):
        where.server.store.remove("configmaps", one)
    now[0] += 301
    await engine.submit(second)
    end = await until(engine, second.target, is_over)
    await engine.close()

    assert end.state is JobState.SUCCEEDED


async def test_the_ranks_of_a_job_meet_and_end_with_the_first(where: Running) -> None:
    engine = engine_on(where)
    gang = order("wc -w <<< ${AZ_BATCH_HOST_LIST//,/ }", nodes=2)

    await engine.submit(gang)
    end = await until(engine, gang.target, is_over)
    log = await engine.read(gang.target, "stdouterr", "stdout.txt", 0, 100)
    await engine.close()

    assert (end.state, end.exit_code, log.data) == (JobState.SUCCEEDED, 0, b"2\n")


async def test_a_secret_goes_when_the_job_has_ended_and_the_job_stays(where: Running) -> None:
    engine = engine_on(where)
    one = order("test $WORD = canary", secrets=[{"name": "WORD", "value": "canary"}])
    await engine.submit(one)
    await until(engine, one.target, is_over)

    names = [each["metadata"]["name"] for each in where.server.store.all(SECRETS)]
    again = await engine.submit(one)
    await engine.close()

    assert names == []
    assert again is not None
    assert (again.state, again.exit_code) == (JobState.SUCCEEDED, 0)
    assert where.server.store.all(SECRETS) == [], "what ended gets none again"


async def test_an_evicted_pod_is_a_preemption_and_what_it_ran_is_recorded(where: Running) -> None:
    engine = engine_on(where)
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    (pod,) = where.server.store.all("pods")
    where.server.nodes.take_away(pod, "PreemptionByScheduler", "preempted by a pod of higher priority")

    end = await until(engine, one.target, is_over)
    await engine.close()

    assert (end.state, end.reason) == (JobState.FAILED, Reason.PREEMPTED)


async def test_a_cancelled_job_keeps_its_name_and_never_runs_again(where: Running) -> None:
    engine = engine_on(where)
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    await engine.cancel(one.target)
    end = await until(engine, one.target, is_over)
    again = await engine.submit(one)
    (job,) = where.server.store.all("jobs")
    await engine.close()

    assert (end.state, end.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    assert again is not None
    assert again.state is JobState.CANCELLED
    assert job["spec"]["suspend"] is True
    assert where.server.store.all(SECRETS) == []
    assert where.server.store.all("pods") == []


async def test_a_quota_of_jobs_makes_no_attempt_and_a_quota_of_pods_is_why_a_job_waits(
    where: Running,
) -> None:
    engine = engine_on(where)
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"count/jobs.batch": "1", "pods": "0"}}}
    where.server.store.add("resourcequotas", "slipway", quota)
    first, second = order("true", name="a-1"), order("true", name="b-1")
    await engine.submit(first)
    with pytest.raises(Saturated, match="exceeded quota"):
        await engine.submit(second)

    observation = await until(engine, first.target, lambda observation: observation.why is not None)
    listed = (await engine.status(NAME, [first.target]))[first.target.name]
    await engine.close()

    assert observation.why is not None
    assert observation.why.word == "QuotaExceeded"
    assert listed.why == observation.why


async def test_a_job_that_fits_nowhere_says_why_it_waits_in_a_pass_as_well(where: Running) -> None:
    engine, grows = engine_on(where, gpus=9), engine_on(where, gpus=9, autoscales=True)
    one = order("true")
    await engine.submit(one)
    observation = await until(engine, one.target, lambda observation: observation.why is not None)
    for _ in range(2):
        listed = (await engine.status(NAME, [one.target]))[one.target.name]
    may_come = await grows.see(one.target)
    no_right = Refusal(403, "Forbidden", 'nodes is forbidden: User "slipway" cannot list resource "nodes"')
    where.server.fault = lambda _, path, __: no_right if path.endswith("/nodes") else None
    unknown_nodes = engine_on(where, gpus=9)
    unlisted = await unknown_nodes.see(one.target)
    for each in (engine, grows, unknown_nodes):
        await each.close()

    assert observation.why is not None
    text = "each of its pods asks for 9 nvidia.com/gpu, and no node has more than 1"
    assert observation.why == Why("Unschedulable", f"can never start as things stand: {text}", never=True)
    assert listed.why == observation.why
    for other in (may_come, unlisted):
        assert other.why is not None
        assert "Insufficient nvidia.com/gpu" in other.why.text
        assert not other.why.never


async def test_a_job_that_an_administrator_suspends_says_so_and_runs_when_it_is_resumed(
    where: Running,
) -> None:
    engine = engine_on(where)
    one = order("true")
    where.server.store.add(
        "resourcequotas", "slipway", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}
    )
    await engine.submit(one)
    job = where.server.store.get("jobs", "slipway", one.target.name)
    job["spec"]["suspend"] = True
    where.server.store.get("resourcequotas", "slipway", "q")["spec"]["hard"]["pods"] = "9"
    waits = await until(
        engine, one.target, lambda observed: observed.why is not None and observed.why.word == "Suspended"
    )
    job["spec"]["suspend"] = False
    end = await until(engine, one.target, is_over)
    await engine.close()

    assert (waits.state, end.state) == (JobState.QUEUED, JobState.SUCCEEDED)


async def test_a_missing_priority_class_can_never_start(where: Running) -> None:
    engine = engine_on(where, priorities={"high": "urgent"})
    one = order("true", schedulingPriority="high")
    await engine.submit(one)
    observation = await until(engine, one.target, lambda observation: observation.why is not None)
    await engine.close()

    assert observation.why is not None
    assert (observation.why.word, observation.why.never) == ("NoPriorityClass", True)


async def test_a_server_that_drops_fields_is_named_and_nothing_of_the_job_stays(where: Running) -> None:
    engine = engine_on(where)
    where.server.api.lossy = ("successPolicy",)
    with pytest.raises(Misconfigured, match=r"did not keep spec\.successPolicy"):
        await engine.submit(order("true", nodes=2))
    await engine.close()

    assert where.server.store.all("jobs") == []
    assert all("deletionTimestamp" in pod["metadata"] for pod in where.server.store.all("pods"))
    assert {pod["status"]["phase"] for pod in where.server.store.all("pods")} <= {"Pending"}


async def test_such_a_server_is_named_as_well_where_its_first_answer_was_lost(where: Running) -> None:
    engine = engine_on(where)
    where.server.api.lossy = ("successPolicy",)
    posts = iter([CUT_AFTER])

    def fault(method: str, path: str, query: dict[str, str]) -> str | None:
        return next(posts, None) if (method, path.rpartition("/")[2]) == ("POST", "jobs") else None

    where.server.fault = fault
    with pytest.raises(Transient):
        await engine.submit(order("true", nodes=2))
    with pytest.raises(Misconfigured, match=r"did not keep spec\.successPolicy"):
        await engine.submit(order("true", nodes=2))
    await engine.close()

    assert where.server.store.all("jobs") == []


async def test_several_nodes_are_refused_by_an_old_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with started(tmp_path_factory.mktemp("old"), version="v1.20.2") as old:
        engine = engine_on(old)
        with pytest.raises(Misconfigured, match=r"need Kubernetes 1\.31 or newer; dev-cluster-00 has 1\.20"):
            await engine.submit(order("true", nodes=2))
        await engine.close()


async def test_nodes_are_shown_with_what_they_do(where: Running) -> None:
    engine = engine_on(where)
    one = order("sleep 60")
    await engine.submit(one)
    await until(engine, one.target, lambda observation: observation.state is JobState.RUNNING)
    view = await engine.nodes(NAME)
    await engine.cancel(one.target)
    await engine.close()

    assert (view.nodes, view.counts["running"], view.counts["idle"]) == (4, 1, 3)


async def test_nodes_that_may_not_be_listed_are_no_number_and_an_expired_token_is_named(
    where: Running,
) -> None:
    engine = engine_on(where)
    text = 'nodes is forbidden: User "slipway" cannot list resource "nodes" in API group ""'
    no_right = Refusal(403, "Forbidden", text)
    where.server.fault = lambda _, path, __: no_right if path.endswith("/nodes") else None
    view = await engine.nodes(NAME)
    expired = Refusal(401, "Unauthorized", "Unauthorized")
    where.server.fault = lambda _, path, __: None if path == "/readyz" else expired
    with pytest.raises(Misconfigured, match="its token has expired"):
        await engine.nodes(NAME)
    await engine.close()

    assert (view.state, view.nodes, view.maximum) == ("not listed", 0, 4)
    assert view.errors == (
        "its nodes cannot be listed: the account of Slipway may not, and jobs do not need it",
    )


async def test_what_is_forgotten_leaves_no_object_and_no_record(where: Running) -> None:
    engine = engine_on(where)
    one = order("true")
    await engine.submit(one)
    await until(engine, one.target, is_over)
    remaining = await engine.forget(NAME, [one.target])
    while remaining:
        remaining = await engine.forget(NAME, [one.target])
    names = {each["metadata"]["name"] for each in where.server.store.all("jobs")}
    await engine.close()

    assert all(name.startswith("slipway-forget-") for name in names)
    assert not (where.shared / "attempts" / "exp" / one.target.name).exists()
