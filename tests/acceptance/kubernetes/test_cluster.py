"""The cluster on this machine: what it promises of itself, and what it bears."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.kubernetes import Kubernetes, KubernetesError, Options, kubernetes
from local.kubernetes.api import Refused, Unreachable, api
from local.kubernetes.kubeconfig import connection
from local.patience import Patience
from local.process import child
from shared.engines.kubernetes.rights import ENTERING, RIGHTS
from tests.acceptance.kubernetes.jobs import PATIENCE, Jobs, code_of, is_running, job

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: The claim of the cluster, at a place that this machine does not have.
SHARED: dict[str, Any] = {
    "pod": {"volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": "slipway"}}]},
    "volumeMounts": [{"name": "shared", "mountPath": "/shared/of/the/cluster"}],
}


async def test_what_a_pod_writes_on_the_claim_is_in_the_directory_of_the_cluster(
    cluster: Kubernetes, jobs: Jobs
) -> None:
    name = await jobs.start('echo "$HOSTNAME" > /shared/of/the/cluster/who', **SHARED)

    assert await jobs.end_of(name) == "Complete", await jobs.log_of(name)
    assert (cluster.shared / "who").read_text().startswith(name)
    assert not _is_here("/shared/of/the/cluster")


async def test_the_service_account_may_do_what_an_engine_does_and_no_more(
    cluster: Kubernetes, tmp_path: Path
) -> None:
    document = json.loads(cluster.slipway.read_text())
    async with api(connection(document, tmp_path)) as slipway:
        jobs = Jobs(slipway, "slipway")
        name = await jobs.start("true")
        assert await jobs.end_of(name) == "Complete"

        for method, path in (
            *calls_without_right(jobs, name),
            ("GET", "/api/v1/namespaces/default/pods"),
            ("PATCH", "/api/v1/nodes/node-0"),
        ):
            with pytest.raises(Refused) as refused:
                await slipway.call(method, path)
            assert refused.value.status == 403, f"{method} {path}"


def calls_without_right(jobs: Jobs, name: str) -> Iterator[tuple[str, str]]:
    """Each call to what the engine uses, or people enter through, that is not among the engine's rights."""
    for resource in {**RIGHTS, **ENTERING}:
        kind, _, part = resource.partition(".")[0].partition("/")
        named = jobs.path(kind, name) + (f"/{part}" if part else "")
        calls = {"create": ("POST", named if part else jobs.path(kind)), "get": ("GET", named)}
        if not part:
            calls |= {"delete": ("DELETE", named), "patch": ("PATCH", named), "update": ("PUT", named)}
            calls |= {"list": ("GET", jobs.path(kind))}
        yield from (call for verb, call in calls.items() if verb not in RIGHTS.get(resource, ()))


async def test_keys_and_kubeconfigs_are_for_their_owner_alone(cluster: Kubernetes) -> None:
    private = [*cluster.home.glob("*.kubeconfig"), *cluster.home.glob("keys/*.key")]

    assert {cluster.admin, cluster.slipway} < set(private)
    assert {stat.S_IMODE(file.stat().st_mode) for file in private} == {0o600}
    assert stat.S_IMODE(cluster.home.stat().st_mode) == 0o700


async def test_a_second_cluster_in_the_same_directory_says_where_the_first_is(cluster: Kubernetes) -> None:
    with pytest.raises(KubernetesError, match=r"runs in .* already") as refused:
        async with kubernetes(Options(data=cluster.home)):
            pass

    assert str(cluster.admin) in str(refused.value)


async def test_nothing_is_lost_or_run_twice_when_api_server_and_store_are_killed_in_a_burst(
    cluster: Kubernetes, jobs: Jobs
) -> None:
    count, acknowledged = 60, list[str]()
    some, more, at_once = asyncio.Event(), asyncio.Event(), asyncio.Semaphore(4)
    body = job('echo "$JOB" >> /shared/of/the/cluster/burst', **SHARED)

    async def post(number: int) -> None:
        async with at_once:
            named = json.loads(json.dumps(body).replace("$JOB", f"burst-{number}"))
            await jobs.api.make(jobs.path("jobs"), {**named, "metadata": {"name": f"burst-{number}"}})
            acknowledged.append(f"burst-{number}")
            (more if len(acknowledged) > count // 2 else some).set()

    posting = [asyncio.create_task(post(number)) for number in range(count)]
    await some.wait()
    await cluster.kill_api()
    await cluster.start_api()
    await more.wait()
    await cluster.kill_store()
    await cluster.start_store()
    await asyncio.gather(*posting)

    assert len(acknowledged) == count
    for name in acknowledged:
        assert await jobs.end_of(name) == "Complete"
    ran = Counter((cluster.shared / "burst").read_text().split())
    assert ran == Counter(acknowledged)


async def test_a_node_that_dies_takes_its_pods_along_and_comes_back(cluster: Kubernetes, jobs: Jobs) -> None:
    script = "echo x >> /shared/of/the/cluster/lost; echo begun; while :; do sleep 0.1; done"
    name = await jobs.start(script, **SHARED)
    pod = await jobs.pod_of(name, is_running)
    node = pod["spec"]["nodeName"]
    await jobs.wrote(jobs.path("pods", pod["metadata"]["name"]), "begun")

    await cluster.kill_node(node)
    await _until_ready(cluster, node, "Unknown")
    await cluster.start_node(node)

    assert await jobs.end_of(name) == "Failed"
    assert (cluster.shared / "lost").read_text() == "x\n"
    answer = await jobs.pod_of(name)
    assert code_of(answer) == 137
    await _until_ready(cluster, node, "True")


async def test_no_process_of_it_survives_the_death_of_its_owner(tmp_path: Path, cluster: Kubernetes) -> None:
    argv = [sys.executable, "-m", "local.kubernetes", "--data", str(tmp_path / "own"), "--nodes", "1"]
    async with child(argv, name="kube-up") as owner:
        await owner.line("^ready", seconds=PATIENCE)
        document = json.loads((tmp_path / "own" / "admin.kubeconfig").read_text())
        async with api(connection(document, tmp_path)) as server:
            jobs = Jobs(server, "slipway")
            name = await jobs.start(
                "while :; do sleep 0.1; done", env=[{"name": "MARK", "value": str(tmp_path)}]
            )
            await jobs.pod_of(name, is_running)
            assert len(_processes_of(str(tmp_path))) > 5

            os.kill(owner.pid, 9)
            await owner.wait()
            patience = Patience(PATIENCE)
            while remains := _processes_of(str(tmp_path)):
                assert not patience.is_over(len(remains)), remains
                await asyncio.sleep(0.1)
            with pytest.raises(Unreachable):
                await server.call("GET", "/readyz")


def _is_here(path: str) -> bool:
    return Path(path).exists()


def _processes_of(text: str) -> list[str]:
    """The processes that name it in their command line or environment, but for our own."""
    answer = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if text.encode() in words and folder.name != str(os.getpid()):
            answer.append(words.decode("utf-8", "replace")[:200])
    return answer


async def _until_ready(cluster: Kubernetes, node: str, word: str) -> None:
    patience = Patience(PATIENCE)
    while True:
        answer = await cluster.api.insist("GET", f"/api/v1/nodes/{node}")
        conditions = {one["type"]: one["status"] for one in answer["status"]["conditions"]}
        if conditions.get("Ready") == word:
            return
        assert not patience.is_over(conditions), answer
        await asyncio.sleep(0.2)
