"""What setup makes of a cluster, and that its Role allows the calls of the engine, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.core.job import JobState
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.provision import ENTER, provision
from shared.engines.kubernetes.provision import NAME as ACCOUNT
from shared.engines.kubernetes.rights import QUEUED, RIGHTS
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.provisioning import Plan, Step
from shared.settings import Settings
from slipway.stack.provision import provision_clusters
from tests.contract.kubernetes.on_kubernetes import NAME, Running, engine_on
from tests.contract.kubernetes.orders import is_over, order, until
from tests.contract.kubernetes.test_kueue import queue_on
from tests.doubles.kubernetes.requests import Subject, right
from tests.doubles.kubernetes.server import POWERLESS, TOKEN, Kubernetes, kubernetes
from tests.unit.engines.kubernetes.wire.test_access import kubeconfig

_OPEN = ("/version", "/apis/kueue.x-k8s.io")


async def setup(server: Kubernetes, *, token: str = TOKEN, queue: str = "") -> dict[str, Step]:
    cluster = KubernetesCluster(
        "gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13", queue=queue
    )
    (stage,) = provision(cluster, KubernetesClient(Access(server.url), FixedToken(token)))
    return {step.kind: step async for step in stage.steps}


async def test_everything_is_made_once(tmp_path: Path) -> None:
    async with kubernetes(tmp_path) as server:
        first, calls = await setup(server), len(server.calls)
        second = await setup(server)

    assert list(first) == ["Namespace", "ServiceAccount", "Role", "RoleBinding", "ResourceQuota"]
    assert {step.created for step in first.values()} == {True}
    assert {(step.created, step.note) for step in second.values()} == {(False, "")}
    assert not [call for call in server.calls[calls:] if call.startswith("PATCH")]


async def test_where_people_may_enter_jobs_there_is_a_role_for_them_that_setup_gives_to_none(
    tmp_path: Path,
) -> None:
    cluster = KubernetesCluster(
        "gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13", enter=True
    )
    async with kubernetes(tmp_path) as server:
        (stage,) = provision(cluster, KubernetesClient(Access(server.url), FixedToken(TOKEN)))
        steps = [step async for step in stage.steps]
        role = server.store.get("roles", "slipway", ENTER)
        bound = server.store.get("rolebindings", "slipway", ACCOUNT)

    assert [step.name for step in steps if step.kind == "Role"] == [ACCOUNT, ENTER]
    assert {rule["resources"][0]: set(rule["verbs"]) for rule in role["rules"]} == {
        "pods": {"get", "list"},
        "pods/exec": {"get", "create"},
        "pods/portforward": {"get", "create"},
    }
    assert bound["roleRef"]["name"] == ACCOUNT
    assert not RIGHTS.keys() & {"pods/exec", "pods/portforward"}


async def test_a_role_of_another_version_is_changed(tmp_path: Path) -> None:
    async with kubernetes(tmp_path) as server:
        await setup(server)
        role = server.store.get("roles", "slipway", ACCOUNT)
        expected, role["rules"] = role["rules"], [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]
        steps = await setup(server)
        changed = server.store.get("roles", "slipway", ACCOUNT)

    assert changed["rules"] == expected
    assert [(kind, step.note) for kind, step in steps.items() if step.note] == [
        ("Role", "it differed from what is needed, and was changed")
    ]


@pytest.mark.parametrize(
    ("queues", "note"),
    [
        (["cq"], ""),
        ([], "not created: it needs exactly one ClusterQueue, and there are 0"),
        (["a", "b"], "not created: it needs exactly one ClusterQueue, and there are 2"),
    ],
)
async def test_a_local_queue_leads_to_the_only_cluster_queue(
    tmp_path: Path, queues: list[str], note: str
) -> None:
    async with kubernetes(tmp_path) as server:
        server.kueue.is_installed = True
        for name in queues:
            server.store.add("clusterqueues", "", {"metadata": {"name": name}, "spec": {}})
        step = (await setup(server, queue="team"))["LocalQueue"]
        again = (await setup(server, queue="team"))["LocalQueue"]
        queue = server.store.find("localqueues", "slipway", "team")

    assert (step.created, step.note) == (not note, note)
    assert (again.created, again.note) == (False, note)
    assert queue is None or queue["spec"] == {"clusterQueue": "cq"}


async def test_a_cluster_without_kueue_has_no_local_queue_and_setup_says_so(tmp_path: Path) -> None:
    async with kubernetes(tmp_path) as server:
        step = (await setup(server, queue="team"))["LocalQueue"]

    assert (step.created, step.note) == (False, "not created: Kueue is not installed on this cluster")


async def test_every_cluster_of_the_settings_is_made_and_one_that_cannot_be_stops_no_other(
    tmp_path: Path,
) -> None:
    options = {"engine": "kubernetes", "shared": "/d", "volumes": {"/d": "pvc:d"}, "image": "python:3.13"}
    clusters = {name: {**options, "namespace": name} for name in ("a", "b", "far", "c")}
    async with kubernetes(tmp_path) as server:
        reached = kubeconfig(cluster={"server": server.url}, user={"token": TOKEN})
        nowhere = kubeconfig(cluster={"server": "http://127.0.0.1:9"}, user={"token": TOKEN})
        settings = Settings(
            {
                "SLIPWAY_STORAGE": "UseDevelopmentStorage=true",
                "SLIPWAY_CLUSTERS": json.dumps(clusters),
                "SLIPWAY_KUBECONFIGS": json.dumps({**dict.fromkeys("abc", reached), "far": nowhere}),
            }
        )
        steps = [step async for step in provision_clusters(settings, Plan())]
        names = {one["metadata"]["name"] for one in server.store.all("namespaces")}
        roles = [one["metadata"]["namespace"] for one in server.store.all("roles")]

    assert {"a", "b", "c"} <= names
    assert roles == ["a", "b", "c"]
    (failed,) = [step for step in steps if step.note]
    assert (failed.name, failed.created) == ("far", False)
    assert "the API server" in failed.note


async def test_an_account_without_rights_leaves_everything_to_an_administrator(tmp_path: Path) -> None:
    async with kubernetes(tmp_path) as server:
        steps = await setup(server, token=POWERLESS)
        roles = server.store.all("roles")

    assert roles == []
    assert all(not step.created and "an administrator has to" in step.note for step in steps.values())


@pytest.mark.parametrize("has_queue", [False, True])
async def test_the_role_allows_the_calls_of_the_engine_and_no_others(where: Running, has_queue: bool) -> None:
    engine = queue_on(where) if has_queue else engine_on(where)
    other_process = engine_on(where, queue="team" if has_queue else "")
    short, long = order("true", name="a-1"), order("sleep 60", name="b-1", nodes=2)
    for one in (engine, other_process):  # what is there already is read
        await one.submit(short)
        await one.submit(long)
    await other_process.close()
    await until(engine, short.target, is_over)
    await engine.status(NAME, [long.target])
    await engine.at_work(NAME)
    await engine.cancel(long.target)
    await until(engine, long.target, is_over)
    no_pods = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}
    where.server.store.add("resourcequotas", "slipway", no_pods)
    await engine.submit(order("true", name="c-1", nodes=4))  # it waits
    await engine.see(order("true", name="c-1").target)
    where.server.api.delete(Subject("jobs", "slipway", "c-1"), {}, {})
    await engine.cancel(order("true", name="c-1").target)
    where.server.store.remove("resourcequotas", where.server.store.all("resourcequotas")[0])
    last = order("sleep 60", name="d-1")
    await engine.submit(last)
    await until(engine, last.target, lambda observation: observation.state is JobState.RUNNING)
    where.server.api.delete(Subject("jobs", "slipway", "d-1"), {}, {})  # its pod stays
    await engine.cancel(last.target)
    await engine.forget(NAME, [short.target, long.target])
    await engine.close()

    used: dict[str, set[str]] = {}
    for call in where.server.calls:
        if call.partition(" ")[2] not in _OPEN and not call.endswith("/nodes"):
            resource, verb = right(call)
            used.setdefault(resource, set()).add(verb)
    allowed = {**RIGHTS, **(QUEUED if has_queue else {})}
    if has_queue:  # events are listed where no queue says why a job waits
        used.setdefault("events", set()).add("list")
    assert {kind: sorted(verbs) for kind, verbs in used.items()} == {
        kind: sorted(verbs) for kind, verbs in allowed.items()
    }
