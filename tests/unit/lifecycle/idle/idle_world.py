"""A world with a job on one node with one GPU, whose reports the test writes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from shared.core.facts import ClusterFacts
from shared.core.job import Job, JobState
from tests.unit.world import CLUSTER, Engines, World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
#: Seconds between two reports, as far as a pass goes.
_EVERY = 15


class IdleWorld(World):
    """One hour until a warning, half an hour until the end."""

    def __init__(self) -> None:
        super().__init__()
        cluster = replace(CLUSTER, facts=ClusterFacts(gpus=1))
        self.use(engines=Engines(self.engine, {"dev": cluster}))
        self.policy(idle_gpus=3600.0, idle_grace=1800.0)
        #: percent of the GPU from now on; None while the node does not report
        self.percent: int | None = 0
        self.reads_at_start = 0

    async def running(self, **members: Any) -> Job:
        """A job that was just seen to run."""
        accepted = await self.message({"spec": job_json(), "notify": [HOOK], **members})
        name = (await self.job(accepted.job.id)).fixed_target.name
        self.engine.set_state(name, JobState.RUNNING)
        await self.make_pass(1)
        return await self.job(accepted.job.id)

    async def later(self, minutes: float) -> None:
        """Passes for some time, a minute each, while the node reports."""
        for _ in range(round(minutes)):
            for second in range(_EVERY, 61, _EVERY):
                self.report(self.now + timedelta(seconds=second))
            await self.make_pass()

    def report(self, at: Any) -> None:
        """A line of the node, if it reports."""
        if self.percent is None:
            return
        line = {"rank": 0, "time": int(at.timestamp()), "gpu0_percent": self.percent}
        before = self.engine.output.get("usage.jsonl", b"")
        self.engine.output["usage.jsonl"] = before + json.dumps(line).encode() + b"\n"
        self.engine.modified["usage.jsonl"] = at

    def prints(self, text: bytes = b"1\n") -> None:
        """The job adds something to its log."""
        self.engine.output["stdout.txt"] = self.engine.output.get("stdout.txt", b"") + text
        self.engine.modified["stdout.txt"] = self.now

    def types(self) -> list[str]:
        """The events that were sent, without what all of their types have in common."""
        return [event["type"].removeprefix("io.slipway.job.").removesuffix(".v1") for event in self.events()]
