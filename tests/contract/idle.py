"""A job that does nothing on a real engine, and a world whose clock follows the reports of its node."""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime
from typing import Any

from local.patience import Patience
from shared.core.engine import Cluster, Engine
from shared.core.errors import EngineError
from shared.core.facts import ClusterFacts
from shared.core.job import Job, JobState
from shared.jobspec import Defaults
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import World

#: Its node reports a GPU that does nothing, whose clock runs much too fast, as long as it runs.
IDLES = """bash -c 'at=$(date +%s); here=$AZ_BATCHAI_STDOUTERR_DIR
[ ! -d "$here/../usage" ] || here=$here/../usage
for line in $(seq 2000); do at=$((at + 60))
echo "{\\"rank\\": 0, \\"time\\": $at, \\"gpu0_percent\\": 0}" >>"$here/usage.jsonl"
sleep 0.05; done'"""
_HOOK = {"url": "https://hooks.example.com/slipway"}


class IdleWorld(World):
    """The dispatcher over memory, with a cluster of the engine under test."""

    def __init__(self, engine: Engine, cluster: str, cluster_id: str) -> None:
        super().__init__()
        self.now = datetime.now(UTC)
        self.engine_under_test = engine
        configured = Cluster(cluster, "x", cluster_id, ClusterFacts(gpus=1))
        completion = Defaults(cluster_id=cluster_id, clusters={cluster: cluster_id})
        self.policy(idle_gpus=3600.0, idle_grace=1800.0, completion=completion)
        self.use(engines=_Engines(engine, {cluster: configured}))

    async def ended(self, document: dict[str, Any], patience: float) -> Job:
        """The job after its end, however long its node's clock takes to it."""
        message = {"spec": document, "notify": [_HOOK], "retry": {"user": 3}}
        job = (await self.message(message, uuid.uuid4().hex)).job
        waited, before = Patience(patience), self.now
        while not (job := await self.job(job.id)).state.terminal:
            await self._follow(job)
            if self.now != before:
                waited, before = Patience(patience), self.now
            assert not waited.is_over(job.state.value), job
            await self.make_pass(0)
            await asyncio.sleep(0.2)
        return job

    async def _follow(self, job: Job) -> None:
        """Set the clock to the last report of the node."""
        if isinstance(self.engine_under_test, MemoryEngine):
            _play(self.engine_under_test, job, self.now)
        try:
            target = job.fixed_target
            files = await self.engine_under_test.files(target, "stdouterr")
            size = next((one.size or 0 for one in files if one.name == "usage.jsonl"), 0)
            chunk = await self.engine_under_test.read(
                target, "stdouterr", "usage.jsonl", max(0, size - 300), 300
            )
        except EngineError:
            return  # it does not run yet
        whole = [
            line for line in chunk.data.splitlines()[1:] if line.startswith(b"{") and line.endswith(b"}")
        ]
        if whole:
            self.now = max(self.now, datetime.fromtimestamp(json.loads(whole[-1])["time"], UTC))


class _Engines:
    def __init__(self, engine: Engine, clusters: dict[str, Cluster]) -> None:
        self._engine, self.clusters = engine, clusters

    def get(self, engine: str) -> Engine:
        return self._engine


def _play(engine: MemoryEngine, job: Job, now: datetime) -> None:
    """In memory the test is the node, too."""
    name = job.fixed_target.name
    if engine.jobs[name].state is JobState.QUEUED:
        engine.jobs[name] = engine.jobs[name]._replace(state=JobState.RUNNING, started=now)
    times = (int(now.timestamp()) + 60 * minutes for minutes in range(1, 11))
    lines = "".join(f"{json.dumps({'rank': 0, 'time': at, 'gpu0_percent': 0})}\n" for at in times)
    engine.output["usage.jsonl"] = engine.output.get("usage.jsonl", b"") + lines.encode()
