"""The Kubernetes engine: submissions, and a pass: `python -m bench.clusters.kubernetes [JOBS [ROUNDS]]`.

Submission: bare POSTs of the same objects, encoded before, and the engine, in turn, to the API server of the
tests; with `--kubeconfig FILE` (JSON, of an administrator) to a real one, in a namespace that is removed
afterwards, where no node fits the pods. The pass: 10,000 Jobs that run, of a server that sends pages which
it has made before; calls, and processor time a job.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from bench.clusters.rounds import Round, in_turn, pace, pass_cost, rate, report, spent_with
from bench.world import ROOT
from local.process import child
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.job.request import belongings, job
from shared.engines.kubernetes.wire.access import Access, from_kubeconfig
from shared.engines.kubernetes.wire.bearer import bearer_of
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.version import Version, version_of
from tests.doubles.server import answering

_PAGE, _ACTIVE = 1000, 10_000
_CLUSTER = KubernetesCluster(
    "dev",
    shared="/data",
    volumes={"/data": "pvc:data"},
    image="python:3.13",
    namespace="slipway-bench",
    node_selector={"slipway/bench": "no-node"},
    max_nodes=1,
)
_JOBS = f"/apis/batch/v1/namespaces/{_CLUSTER.namespace}/jobs"


async def main(jobs: int, rounds: int, kubeconfig: str) -> None:
    """Print the rates with their ratio, and what the pass cost."""
    async with _server_of(kubeconfig) as (access, spent):
        report(await _submissions(access, spent, jobs, rounds), "jobs")
    calls, seconds = await pass_over(_ACTIVE)
    sys.stdout.write(f"a pass over {_ACTIVE}  {calls} calls, {seconds * 1e6 / _ACTIVE:.0f} us a job\n")


@asynccontextmanager
async def _server_of(kubeconfig: str) -> AsyncIterator[tuple[Access, Callable[[], float]]]:
    """Access to the server; the processor seconds, of it as well if it is that of the tests."""
    if kubeconfig:
        document = json.loads(await asyncio.to_thread(Path(kubeconfig).read_text))
        yield from_kubeconfig(document, kubeconfig), time.process_time
        return
    argv = [sys.executable, "-m", "bench.clusters.api_server"]
    async with child(argv, name="the API server", cwd=ROOT, on_line=_ignore) as server:
        yield Access((await server.line(r"^ready (\S+)$"))[1]), spent_with(server.pid)


async def _submissions(access: Access, spent: Callable[[], float], jobs: int, rounds: int) -> list[Round]:
    client = KubernetesClient(access, bearer_of(access))
    version = version_of((await client.call("GET", "/version")).body)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _CLUSTER.namespace}}
    await client.call("POST", "/api/v1/namespaces", namespace)
    engine = KubernetesEngine({"dev": _CLUSTER}, {"dev": client})
    result: list[Round] = []
    tls = access.tls()
    connector = aiohttp.TCPConnector(ssl=tls if tls is not None else True)
    try:
        async with aiohttp.ClientSession(connector=connector, headers=_headers(access)) as session:
            await engine.submit(_order("first"))  # makes the ConfigMap
            for at in range(rounds + 1):  # the first one warms both up
                contents = [_encoded(_order(f"bare-{at}-{n}"), version) for n in range(jobs)]
                orders = [_order(f"ours-{at}-{n}") for n in range(jobs)]
                one_round = await in_turn(
                    at,
                    lambda contents=contents: pace(
                        contents, lambda one: _post(session, access.url, one), spent
                    ),  # type: ignore[misc]
                    lambda orders=orders: pace(orders, engine.submit, spent),  # type: ignore[misc]
                )
                result.append(one_round)
                await _clear(client)
    finally:
        await client.call("DELETE", f"/api/v1/namespaces/{_CLUSTER.namespace}")
        await engine.close()
    return result[1:]


def _headers(access: Access) -> dict[str, str]:
    content = {"Content-Type": "application/json", "Accept": "application/json"}
    return {**content, **({"Authorization": f"Bearer {access.token}"} if access.token else {})}


def _encoded(order: Order, version: Version) -> list[tuple[str, bytes]]:
    """Path and body of each object of a job. Its Secret has no owner yet: another UUID of that length."""
    objects = (
        job(_CLUSTER, order, version),
        *belongings(_CLUSTER, order, "0" * 8 + "-0000-0000-0000-" + "0" * 12),
    )
    return [(one.path, json.dumps(one.body, separators=(",", ":")).encode()) for one in objects]


async def _post(session: aiohttp.ClientSession, url: str, objects: list[tuple[str, bytes]]) -> None:
    for path, content in objects:
        async with session.post(f"{url}{path}?fieldValidation=Strict", data=content) as answer:
            assert answer.status == 201, await answer.text()
            await answer.read()


async def _clear(client: KubernetesClient) -> None:
    """No round meets what the ones before it have made."""
    paths = [f"{_JOBS}/{one.name}" async for one in client.rows(_JOBS)]
    await rate(paths, lambda path: client.call("DELETE", path, query={"propagationPolicy": "Background"}))


async def pass_over(active: int) -> tuple[int, float]:
    """Calls and processor seconds of one pass over so many Jobs that run, by one that looked before."""
    calls: list[str] = []
    async with _pages(calls, active) as url:
        clients = {"dev": KubernetesClient(Access(url), bearer_of(Access(url)))}
        return await pass_cost(
            lambda clock: KubernetesEngine({"dev": _CLUSTER}, clients, clock=clock), calls, active
        )


@asynccontextmanager
async def _pages(calls: list[str], active: int) -> AsyncIterator[str]:
    """A server of two lists, with pages that it made before."""
    names = [f"job-{n}" for n in range(active)]
    lists = {
        "jobs None": _table(("Name", "Status"), [(name, "Running") for name in names], owned=False),
        "jobs Metadata": _table(("Name", "Status"), [(name, "Running") for name in names], owned=True),
        "pods None": _table(
            ("Name", "Status", "Node"), [(f"{name}-0-abcde", "Running", "n") for name in names], owned=False
        ),
    }

    async def answer(request: web.Request) -> web.Response:
        calls.append(f"{request.method} {request.path}")
        if request.path == "/version":
            return web.json_response({"gitVersion": "v1.36.2"})
        plural, form = request.path.rpartition("/")[2], request.query.get("includeObject")
        page = lists[f"{plural} {form}"][int(request.query.get("continue", "0"))]
        return web.Response(body=page, content_type="application/json")

    async with answering(answer) as url:
        yield url


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]], *, owned: bool) -> list[bytes]:
    """The pages of a list; with the tokens of Jobs if `owned`."""
    metadata = {"annotations": {"slipway/token": "t"}}
    result: list[bytes] = []
    for at in range(0, len(rows), _PAGE):
        following = str(len(result) + 1) if at + _PAGE < len(rows) else ""
        page = {
            "kind": "Table",
            "columnDefinitions": [{"name": name} for name in columns],
            "metadata": {"resourceVersion": "1", "continue": following},
            "rows": [
                {"cells": row, "object": {"metadata": metadata} if owned else None}
                for row in rows[at : at + _PAGE]
            ],
        }
        result.append(json.dumps(page).encode())
    return result


def _order(name: str) -> Order:
    target = Target(engine="kubernetes", cluster="dev", experiment="bench", name=name, token=f"{name}.1")
    properties: dict[str, Any] = {
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": "true"},
    }
    return Order(target, {"properties": properties})


def _ignore(line: str) -> None:
    """What the server says is of no use here."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.clusters.kubernetes")
    parser.add_argument("jobs", type=int, nargs="?", default=300)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--kubeconfig", default="")
    options = parser.parse_args()
    asyncio.run(main(options.jobs, options.rounds, options.kubeconfig))
