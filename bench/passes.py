"""A pass over many active jobs: calls, processor time a job, bytes; against one GET a job through the SDK.

The cluster is a server that answers as Batch AI does, in pages of 1,000 jobs of 1.9 KB.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
from aiohttp import web

from bench.job import SPEC
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Answer, Request, Send
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState, Target
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.code import TOKEN
from shared.engines.batchai.engine import BatchAIEngine
from tests.doubles.memory import MemoryLedger
from tests.doubles.server import serving
from tests.unit.world import Engines, World

_PAGE = 1000


@dataclass
class _Arm:
    """The jobs of one experiment, by their states."""

    states: list[str]
    calls: int = 0
    sent_bytes: int = 0
    pages: dict[int, bytes] = field(default_factory=dict)

    async def list(self, request: web.Request) -> web.Response:
        self.calls += 1
        first = int(request.query.get("skip", "0"))
        if first not in self.pages:
            members = [self._job(n) for n in range(first, min(first + _PAGE, len(self.states)))]
            page: dict[str, object] = {"value": members}
            if first + _PAGE < len(self.states):
                page["nextLink"] = (
                    f"{request.url.origin()}{request.path}?api-version=2018-05-01&skip={first + _PAGE}"
                )
            self.pages[first] = json.dumps(page).encode()
        self.sent_bytes += len(self.pages[first])
        return web.Response(body=self.pages[first], content_type="application/json")

    async def one(self, request: web.Request) -> web.Response:
        self.calls += 1
        return web.json_response(self._job(int(request.match_info["name"].rpartition("-")[2])))

    def _job(self, number: int) -> dict[str, object]:
        info = {"startTime": "2026-01-01T00:00:00Z"}
        variables = [{"name": TOKEN, "value": "t"}, *SPEC["properties"]["environmentVariables"]]
        state = {"executionState": self.states[number], "executionInfo": info}
        properties = SPEC["properties"] | {"environmentVariables": variables} | state
        return {"id": f"/x/{number}", "name": f"job-{number}", "properties": properties}


@dataclass
class _Traffic:
    """What goes to the table service and comes from it."""

    calls: int = 0
    bytes: int = 0

    def count_requests(self, send: Send) -> Send:
        """A sender that passes requests on, and counts them with their bytes."""

        async def counting_send(request: Request) -> Answer:
            answer = await send(request)
            self.calls += 1
            self.bytes += len(request.body or b"") + len(answer.body)
            return answer

        return counting_send


async def pass_over(active: int, changed: float, storage: str = "") -> dict[str, float]:
    """Calls, bytes and processor microseconds a job of one pass, by a process that remembers no record.

    Over a table in memory, or, with a connection string, over the service's. `held MB`: by how much five more
    passes make the process larger.
    """
    world, arm, traffic = World(), _Arm(["queued"] * active), _Traffic()
    async with _engine(arm) as engine, _store(world, storage, traffic) as store:
        ledger = TableLedger(store)
        world.use(engines=Engines(engine), ledger=ledger, outbox=TableOutbox(store))  # type: ignore[arg-type]
        other = TableLedger(store)
        await put_jobs(other, [queued_job(n) for n in range(active)])
        await world.make_pass()
        for number in range(int(active * changed)):
            arm.states[number] = "running"
        arm.pages.clear()
        await engine.status("dev", [_target(0)])  # the pages are made before the clock runs
        arm.calls = arm.sent_bytes = traffic.calls = traffic.bytes = 0
        # What plays the storage and the cluster here is large: no other pass's collector walks over that.
        gc.collect()
        gc.freeze()
        before = time.process_time()
        counts = await world.make_pass()
        spent = time.process_time() - before
        gc.unfreeze()
        assert counts.changed == int(active * changed)
        calls, sent_bytes, mine = arm.calls, arm.sent_bytes, (traffic.calls, traffic.bytes)
        growth = psutil.Process().memory_info().rss
        for _ in range(5):
            await world.make_pass()
        growth = psutil.Process().memory_info().rss - growth
    name = f"pass {active} {changed:.0%}{' table' if storage else ''}"
    figures = {
        f"{name} engine calls": calls,
        f"{name} CPU µs/job": spent * 1e6 / active,
        f"{name} MB": sent_bytes / 1e6,
        f"{name} held MB": growth / 1e6,
        f"{name} peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    return figures | ({f"{name} table calls": mine[0], f"{name} table MB": mine[1] / 1e6} if storage else {})


@asynccontextmanager
async def _store(world: World, storage: str, traffic: _Traffic) -> AsyncIterator[ShardedTable]:
    if not storage:
        yield MemoryLedger(world.clock).store
        return
    account = Account(Connection(storage), around=traffic.count_requests)
    yield ShardedTable(RestTable(account, f"pass{uuid.uuid4().hex[:12]}"), 4)
    await account.close()


async def put_jobs(ledger: TableLedger, jobs: list[Job]) -> None:
    """Put jobs into the table, as fast as the service keeps up."""
    for at in range(0, len(jobs), 1000):
        await asyncio.gather(*(ledger.create(job, None, None) for job in jobs[at : at + 1000]))


async def one_by_one(number: int) -> dict[str, float]:
    """Processor microseconds a job of a GET for each, and of a list with models, through the SDK."""
    from shared.engines.batchai.client import connect

    arm = _Arm(["queued"] * number)
    async with _engine(arm) as engine:
        client = connect(engine._workspace)
        try:
            await client.jobs.get("g", "w", "e", "job-0")
            before = time.process_time()
            for n in range(number):
                await client.jobs.get("g", "w", "e", f"job-{n}")
            single = (time.process_time() - before) / number
            before = time.process_time()
            async for _ in client.jobs.list_by_experiment("g", "w", "e"):
                pass
            models = (time.process_time() - before) / number
        finally:
            await client.close()
    return {"SDK GET CPU µs/job": single * 1e6, "SDK list CPU µs/job": models * 1e6}


@asynccontextmanager
async def _engine(arm: _Arm) -> AsyncIterator[BatchAIEngine]:
    """The server shares our process: its time is small, since it sends pages that it has made before."""
    app = web.Application()
    root = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/experiments/e/jobs"
    app.router.add_get(root, arm.list)
    app.router.add_get(root + "/{name}", arm.one)
    async with serving(app) as url:
        engine = BatchAIEngine(Workspace(url, "s", "g", "w"))
        try:
            yield engine
        finally:
            await engine.close()


def _target(number: int) -> Target:
    return Target(engine="batchai", cluster="dev", experiment="e", name=f"job-{number}", token="t")  # noqa: S106


def queued_job(number: int) -> Job:
    """The n-th job, as its cluster has it in its queue."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    identity = job_id(str(number), 1)
    return Job(
        id=identity,
        key=str(number),
        payload="p",
        door="queue",
        name="n",
        experiment="e",
        cluster="dev",
        state=JobState.QUEUED,
        created=now,
        due=now,
        target=_target(number),
        history=(Entry(sequence=1, state=JobState.QUEUED, at=now, token=f"t{number}"),),
    )
