"""Jobs for Kubernetes by HTTP: `python -m bench.clusters.http [JOBS [ROUNDS]]`.

Bare POSTs of a job's objects to the API server of the tests, encoded before, and as many `POST /api/jobs` to
the local host, whose answer comes when the job is accepted and submitted, in turn. Their paces, and the
processor time of all that took part: the API server, and for ours the host, the worker and the storage.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable

import aiohttp
import psutil

from bench.clusters import kubernetes
from bench.clusters.rounds import Round, in_turn, pace, report
from bench.job import SPEC
from bench.world import QUIET, ROOT, World, cpu_of_all, world
from local.process import child
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.kubernetes.wire.version import version_of

_OPTIONS = {
    "engine": "kubernetes",
    "namespace": "slipway-bench",
    "image": "python:3.13",
    "volumes": {"/data": "pvc:data"},
    "shared": "/data",
    "maxNodes": 1,
}


async def main(jobs: int, rounds: int) -> None:
    """Print both paces with their ratios."""
    argv = [sys.executable, "-m", "bench.clusters.api_server"]
    async with child(argv, name="the API server", cwd=ROOT, on_line=kubernetes.ignore) as server:
        url = (await server.line(r"^ready (\S+)$"))[1]
        await kubernetes.make_namespace(url)
        context = {"name": "c", "context": {"cluster": "c"}}
        access = {"current-context": "c", "contexts": [context], "clusters": [_server(url)]}
        settings = {
            **QUIET,
            "SLIPWAY_CLUSTER": "dev",
            "SLIPWAY_CLUSTERS": json.dumps({"dev": _OPTIONS}),
            "SLIPWAY_KUBECONFIGS": json.dumps({"dev": access}),
        }
        async with world(noop=False, settings=settings) as stack:
            report(await _rounds(stack, url, server.pid, jobs, rounds), "jobs")


def _server(url: str) -> dict[str, object]:
    return {"name": "c", "cluster": {"server": url}}


async def _rounds(stack: World, url: str, server: int, jobs: int, rounds: int) -> list[Round]:
    result: list[Round] = []
    version, spent = version_of({"gitVersion": "v1.36.2"}), _spent(stack, server)
    async with (
        aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as bare,
        aiohttp.ClientSession(stack.running.host_url) as http,
    ):
        for at in range(rounds + 1):  # the first one warms both up
            contents = [kubernetes.encoded(_order(f"bare-{at}-{n}"), version) for n in range(jobs)]
            one_round = await in_turn(
                at,
                lambda contents=contents: pace(contents, lambda one: kubernetes.post(bare, url, one), spent),  # type: ignore[misc]
                lambda: pace(range(jobs), lambda _: _submit(http), spent),
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
