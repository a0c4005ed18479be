"""Jobs for Kubernetes by HTTP: `python -m bench.clusters.http [JOBS [ROUNDS]]`.

Bare POSTs of a job's objects to the API server of the tests, encoded before, and as many `POST /api/jobs` to
the local host, whose answer comes when the job is accepted and submitted, in turn. Their paces, and the
processor time of all that took part: the API server, and for ours the host, the worker and the storage.
Then the same for the least that such a submission needs: a request through the host and the worker that does
nothing, one row of the storage before the bare POSTs, and a change of it afterwards.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import aiohttp
import psutil

from bench.clusters import kubernetes
from bench.clusters.rounds import Round, in_turn, pace, report
from bench.job import SPEC
from bench.rest import Raw
from bench.world import QUIET, ROOT, World, cpu_of_all, world
from local.process import child
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.kubernetes.wire.version import version_of

_JSON = {"Content-Type": "application/json"}
_Submit = Callable[[aiohttp.ClientSession], Awaitable[None]]
_OPTIONS = {
    "engine": "kubernetes",
    "namespace": "slipway-bench",
    "image": "python:3.13",
    "volumes": {"/data": "pvc:data"},
    "shared": "/data",
    "maxNodes": 1,
}


async def main(jobs: int, rounds: int) -> None:
    """Print the paces with their ratios."""
    async with _api_server() as server:
        context = {"name": "c", "context": {"cluster": "c"}}
        access = {"current-context": "c", "contexts": [context], "clusters": [_server(server.url)]}
        settings = {
            **QUIET,
            "SLIPWAY_CLUSTER": "dev",
            "SLIPWAY_CLUSTERS": json.dumps({"dev": _OPTIONS}),
            "SLIPWAY_KUBECONFIGS": json.dumps({"dev": access}),
        }
        async with world(noop=False, settings=settings) as stack:
            report(await _rounds(stack, server, jobs, rounds, _submit), "jobs", "POST /api/jobs")
    # Another server, since each object makes the one of the tests slower.
    async with (
        _api_server() as server,
        world(noop=False) as stack,
        Raw(stack.storage) as raw,
        aiohttp.ClientSession(headers=_JSON) as bare,
    ):
        least = await _least(raw, bare, server.url)
        report(await _rounds(stack, server, jobs, rounds, least), "jobs", "the least")


class _ApiServer(NamedTuple):
    """Where it answers, and its process."""

    url: str
    pid: int


@asynccontextmanager
async def _api_server() -> AsyncIterator[_ApiServer]:
    argv = [sys.executable, "-m", "bench.clusters.api_server"]
    async with child(argv, name="the API server", cwd=ROOT, on_line=kubernetes.ignore) as server:
        url = (await server.line(r"^ready (\S+)$"))[1]
        await kubernetes.make_namespace(url)
        yield _ApiServer(url, server.pid)


def _server(url: str) -> dict[str, object]:
    return {"name": "c", "cluster": {"server": url}}


async def _least(raw: Raw, bare: aiohttp.ClientSession, url: str) -> _Submit:
    """What no submission by HTTP can do without, if the job is on record before it is on the cluster."""
    table, version = f"t{uuid.uuid4().hex[:12]}", version_of({"gitVersion": "v1.36.2"})
    await raw.make_table(table)
    record = json.dumps(SPEC)

    async def submit(http: aiohttp.ClientSession) -> None:
        key = uuid.uuid4().hex
        async with http.get("/api/jobs/x") as answer:
            await answer.read()
        etag = await raw.insert(table, {"PartitionKey": "p", "RowKey": key, "State": "a", "Record": record})
        await kubernetes.post(bare, url, kubernetes.encoded(_order(f"least-{key[:12]}"), version))
        await raw.merge(table, "p", key, {"State": "queued"}, etag)

    return submit


async def _rounds(stack: World, server: _ApiServer, jobs: int, rounds: int, submit: _Submit) -> list[Round]:
    result: list[Round] = []
    version, spent = version_of({"gitVersion": "v1.36.2"}), _spent(stack, server.pid)
    async with (
        aiohttp.ClientSession(headers=_JSON) as bare,
        aiohttp.ClientSession(stack.running.host_url) as http,
    ):
        for at in range(rounds + 1):  # the first one warms both up
            name = f"{uuid.uuid4().hex[:8]}-{at}"
            contents = [kubernetes.encoded(_order(f"bare-{name}-{n}"), version) for n in range(jobs)]
            one_round = await in_turn(
                at,
                lambda contents=contents: pace(  # type: ignore[misc]
                    contents, lambda one: kubernetes.post(bare, server.url, one), spent
                ),
                lambda: pace(range(jobs), lambda _: submit(http), spent),
            )
            result.append(one_round)
    return result[1:]


def _spent(stack: World, server: int) -> Callable[[], float]:
    """The processor seconds of this process and of all that it uses."""
    others = [psutil.Process(one.pid) for one in stack.running.processes]

    def spent() -> float:
        return time.process_time() + cpu_of_all(psutil.Process(server), *others)

    return spent


async def _submit(http: aiohttp.ClientSession) -> None:
    async with http.post("/api/jobs", json={"spec": SPEC}) as answer:
        document = await answer.json()
        if answer.status >= 300 or document.get("state") != "queued":
            raise RuntimeError(f"{answer.status}: {str(document)[:300]}")


def _order(name: str) -> Order:
    target = Target(engine="kubernetes", cluster="dev", experiment="bench", name=name, token=f"{name}.1")
    return Order(target, SPEC)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(numbers[0] if numbers else 100, numbers[1] if len(numbers) > 1 else 5))
