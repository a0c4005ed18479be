"""The Batch engine: submissions, and a pass: `python -m bench.clusters.batch [JOBS [ROUNDS]]`.

Submission: bare POSTs of the same tasks to the emulator, encoded before, and the engine, in turn. The pass:
10,000 active tasks of a server that sends pages which it has made before; calls, and processor time a job.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web

from bench.clusters.rounds import Round, in_turn, pace, pass_cost, report, spent_with
from bench.world import ROOT
from local.azurebatch.settings import ACCOUNT, KEY
from local.process import child
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.provision import IMAGE
from shared.engines.batch.wire.client import API, BatchClient
from shared.engines.batch.wire.sign import SharedKey, key_from
from tests.doubles.server import answering

_PAGE, _ACTIVE = 1000, 10_000
_POOL = {"id": "p", "vmSize": "standard_d1", "virtualMachineConfiguration": IMAGE, "targetDedicatedNodes": 0}


async def main(jobs: int, rounds: int) -> None:
    """Print the rates with their ratio, and what the pass cost."""
    with tempfile.TemporaryDirectory() as data:
        argv = [sys.executable, "-m", "local.azurebatch", "--port=0", f"--data={data}"]
        async with child(argv, name="the emulator", cwd=ROOT, on_line=_ignore) as emulator:
            url = (await emulator.line(r"^ready (\S+)$"))[1]
            report(await _submissions(url, spent_with(emulator.pid), jobs, rounds), "tasks")
    calls, seconds = await pass_over(_ACTIVE)
    sys.stdout.write(f"a pass over {_ACTIVE}  {calls} calls, {seconds * 1e6 / _ACTIVE:.0f} us a job\n")


async def _submissions(url: str, spent: Callable[[], float], jobs: int, rounds: int) -> list[Round]:
    key = key_from(ACCOUNT, KEY, "the emulator")
    cluster = BatchCluster(
        "bench", url=url, account=ACCOUNT, pool="p", shared="/shared", max_nodes=1, scales=False
    )
    client = BatchClient(url, key)
    await client.call("POST", "/pools", _POOL)
    await client.close()
    engine = BatchEngine({"bench": cluster}, {"bench": key})
    result: list[Round] = []
    async with aiohttp.ClientSession() as session:
        await engine.submit(_order("first"))  # makes the Batch job
        for at in range(rounds + 1):  # the first one warms both up
            contents = [
                json.dumps(engine.submissions(_order(f"bare-{at}-{n}"))[0].body).encode() for n in range(jobs)
            ]
            orders = [_order(f"ours-{at}-{n}") for n in range(jobs)]
            one_round = await in_turn(
                at,
                lambda contents=contents: pace(contents, lambda one: _post(session, url, key, one), spent),  # type: ignore[misc]
                lambda orders=orders: pace(orders, engine.submit, spent),  # type: ignore[misc]
            )
            result.append(one_round)
    await engine.close()
    return result[1:]


async def _post(session: aiohttp.ClientSession, url: str, key: SharedKey, content: bytes) -> None:
    path, query = "/jobs/bench-normal/tasks", {"api-version": API}
    headers = {
        "Content-Type": "application/json; odata=minimalmetadata; charset=utf-8",
        "Content-Length": str(len(content)),
    }
    headers |= await key.headers("POST", path, query, headers)
    async with session.post(url + path, params=query, data=content, headers=headers) as answer:
        assert answer.status == 201, await answer.text()


async def pass_over(active: int) -> tuple[int, float]:
    """Calls and processor seconds of one pass over so many active tasks, by a process that looked before."""
    calls: list[str] = []
    async with _server(calls, active) as url:
        cluster = BatchCluster("dev", url=url, pool="p", shared="/shared", max_nodes=4)
        keys = {"dev": SharedKey("a", b"k" * 32)}
        return await pass_cost(lambda clock: BatchEngine({"dev": cluster}, keys, clock=clock), calls, active)


@asynccontextmanager
async def _server(calls: list[str], active: int) -> AsyncIterator[str]:
    info = {"retryCount": 0, "requeueCount": 0}
    tasks = [
        {"id": f"job-{n}", "displayName": "t", "state": "active", "executionInfo": info}
        for n in range(active)
    ]
    pages = [json.dumps({"value": tasks[at : at + _PAGE]})[:-1] for at in range(0, active, _PAGE)]

    async def answer(request: web.Request) -> web.Response:
        calls.append(f"{request.method} {request.path}")
        if not request.path.endswith("-normal/tasks"):
            document: dict[str, Any] = {
                "value": [],
                "id": "p",
                "allocationState": "steady",
                "enableAutoScale": True,
            }
            return web.json_response(document)
        number = int(request.query.get("$skiptoken", "0"))
        more = f',"odata.nextLink":"http://a/x?$skiptoken={number + 1}"' if number + 1 < len(pages) else ""
        return web.Response(text=f"{pages[number]}{more}}}", content_type="application/json")

    async with answering(answer) as url:
        yield url


def _order(name: str) -> Order:
    target = Target(engine="batch", cluster="bench", experiment="bench", name=name, token=f"{name}.1")
    document = {
        "properties": {
            "nodeCount": 1,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "customToolkitSettings": {"commandLine": "true"},
        }
    }
    return Order(target, document)


def _ignore(line: str) -> None:
    """What the emulator says is of no use here."""


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(numbers[0] if numbers else 300, numbers[1] if len(numbers) > 1 else 5))
