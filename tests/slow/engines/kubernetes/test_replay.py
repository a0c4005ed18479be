"""Each request that was sent to a real API server, sent to that of the tests: the answers mean the same.

What its controllers and nodes do takes its time there as here, so a read is repeated until it does.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from yarl import URL

from local.patience import Patience
from tests.doubles.kubernetes.server import POWERLESS, TOKEN, Kubernetes, kubernetes
from tests.slow.engines.kubernetes.test_recorded import FOLDER

_PATIENCE = 90.0
#: What was sent with another token, by the words of the recording.
_TOKENS = {"no token": "", "wrong token": "x", "token without rights": POWERLESS}
_POD = re.compile(r"/pods/(.+-\d+)-[a-z0-9]{5}(?=/)", re.ASCII)
#: Conditions of a Workload that say whether it has quota.
_QUOTA = ("QuotaReserved", "Admitted", "Evicted", "Finished")


@pytest.mark.parametrize(
    "name",
    [
        "basics",
        "gang",
        "quota",
        "nodeloss",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in ("ends", "kueue")),
    ],
)
async def test_the_server_of_the_tests_answers_as_a_real_one_did(name: str, tmp_path: Path) -> None:
    file = FOLDER / "1.36.2" / f"{name}.jsonl"
    if not file.exists():
        pytest.skip(f"no recordings in {FOLDER}: set KUBERNETES_RECORDINGS to their folder")
    exchanges = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    async with kubernetes(tmp_path) as cluster, ClientSession() as session:
        cluster.kueue.is_installed = name == "kueue"
        for node in ["spot-0"] if name == "nodeloss" else [f"gpu-{number}" for number in range(4)]:
            cluster.nodes.add(node, gpus=4, pool="spot" if node == "spot-0" else "gpu")
        for number, one in enumerate(exchanges):
            await _act(cluster, one)
            await _compare(
                session, cluster, one, f"{name} {number} {one['step']}: {one['method']} {one['path']}"
            )


async def _act(cluster: Kubernetes, one: Any) -> None:
    """What the recording did beside its requests: it waited, and it cleared up."""
    name = (
        ((one["request"] or {}) if isinstance(one["request"], dict) else {}).get("metadata", {}).get("name")
    )
    if name == "hi":
        await _has_pods(cluster, "lo", "Running")
    doomed = one["path"].partition("?")[0].rpartition("/jobs/")[2]
    if one["method"] == "DELETE" and doomed in ("qa", "orphans", "fg", "bg"):
        await _has_pods(cluster, doomed, "Running", "Succeeded", "Failed")
    if name == "lost" and cluster.store.find("jobs", "default", name):
        cluster.store.remove("jobs", cluster.store.get("jobs", "default", name))
    if "/nodes/" in one["path"] and _meaning(one["response"]) == ("Node", "Unknown"):
        cluster.nodes.lose("spot-0")
    cluster.kueue.is_down = one["status"] == 500


async def _has_pods(cluster: Kubernetes, job: str, *phases: str) -> None:
    async with asyncio.timeout(_PATIENCE):
        while not any(  # noqa: ASYNC110 - the cluster is in this loop
            one["metadata"]["labels"].get("job-name") == job and one["status"]["phase"] in phases
            for one in cluster.store.all("pods")
        ):
            await asyncio.sleep(0.05)


async def _compare(session: ClientSession, cluster: Kubernetes, one: Any, place: str) -> None:
    expected, patience = (one["status"], _meaning(one["response"])), Patience(_PATIENCE)
    while (answer := await _send(session, cluster, one)) != expected:
        may_come = one["method"] == "GET" or (one["method"] == "POST" and answer[0] in (404, 409))
        assert may_come, f"{place}: {answer} instead of {expected}"
        assert not patience.is_over(answer), f"{place}: {answer} instead of {expected}"
        await asyncio.sleep(0.05)


async def _send(session: ClientSession, cluster: Kubernetes, one: Any) -> tuple[int, Any]:
    token = _TOKENS.get(one["step"], TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Content-Type": one["contentType"]} if one["contentType"] else {}
    path = _POD.sub(lambda match: f"/pods/{_pod(cluster, match[1])}", one["path"])
    url = URL(f"{cluster.url}{path}", encoded=True)
    async with session.request(one["method"], url, data=_content(cluster, one), headers=headers) as answer:
        text = await answer.text()
        return answer.status, _meaning(json.loads(text) if text.startswith("{") else text)


def _content(cluster: Kubernetes, one: Any) -> io.BytesIO | None:
    body = one["request"]
    for owner in (body.get("metadata") or {}).get("ownerReferences", []) if isinstance(body, dict) else []:
        owner["uid"] = cluster.store.get("jobs", "default", owner["name"])["metadata"]["uid"]
    if body == "(left out: large)":
        size = 4_000_000 if one["status"] == 413 else 300_000
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}
        metadata = {"name": "m6", "annotations": {"a": "x" * size}}
        body = {"kind": "Job", "metadata": metadata, "spec": {"template": template}}
    if body is None:
        return None
    text = body if isinstance(body, str) else json.dumps(body)
    # Pods that are processes of one machine have no names of their own in its DNS.
    return io.BytesIO(text.replace("getent hosts", "echo").encode())


def _pod(cluster: Kubernetes, base: str) -> str:
    """The name that the pod of that Job and index has here; one that does not run yet is not there yet."""
    for pod in cluster.store.all("pods"):
        name = pod["metadata"]["name"]
        if name.startswith(f"{base}-") and pod["status"]["phase"] != "Pending":
            return str(name)
    return f"{base}-aaaaa"


def _meaning(answer: Any) -> Any:
    """What of an answer is the same at each time that it is asked for."""
    if isinstance(answer, str):
        return answer.split()[:2]
    kind = answer.get("kind")
    readers: dict[Any, Any] = {"Status": _status, "Job": _job, "PodList": _pods, "Node": _node}
    readers |= {"WorkloadList": _workloads, "EventList": _events}
    read = readers.get(kind, lambda document: (document["metadata"] or {}).get("name"))
    return (kind, read(answer)) if kind else sorted(answer.keys() & {"major", "minor", "gitVersion"})


def _status(answer: Any) -> Any:
    details = answer.get("details") or {}
    causes = {(cause.get("reason"), cause.get("field")) for cause in details.get("causes") or ()}
    return answer.get("reason"), details.get("name"), details.get("kind"), causes


def _job(job: Any) -> Any:
    status, spec = job["status"], job["spec"]
    conditions = {(one["type"], one["status"], one.get("reason")) for one in status.get("conditions") or ()}
    words = [spec.get(name) for name in ("parallelism", "completions", "completionMode", "suspend")]
    ending = "deletionTimestamp" in job["metadata"]
    return job["metadata"]["name"], words, conditions, status.get("succeeded") or 0, ending


def _pods(answer: Any) -> Any:
    return sorted(
        (
            one["metadata"]["generateName"],
            one["status"]["phase"],
            [
                (state["state"].get("terminated") or {}).get("exitCode")
                for state in one["status"].get("containerStatuses") or ()
            ],
        )
        for one in answer["items"]
    )


def _node(node: Any) -> Any:
    return next(one["status"] for one in node["status"]["conditions"] if one["type"] == "Ready")


def _workloads(answer: Any) -> Any:
    return {
        one["metadata"]["ownerReferences"][0]["name"]: sorted(
            (each["type"], each["status"], each["reason"] if each["type"] != "Admitted" else "")
            for each in one["status"].get("conditions") or ()
            if each["type"] in _QUOTA
        )
        for one in answer["items"]
    }


def _events(answer: Any) -> Any:
    listed = [one for one in answer["items"] if one["involvedObject"]["kind"] == "Job"]
    return {(one["involvedObject"]["name"], one["reason"]) for one in listed}
