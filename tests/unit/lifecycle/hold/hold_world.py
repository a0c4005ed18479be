"""A world with a job that asked to keep its node, which fails when the test says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from shared.core.job import Job, JobState
from shared.core.relations.hold import Held
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}
LENGTH = timedelta(minutes=30)


class HoldWorld(World):
    """Jobs may keep their nodes for an hour."""

    def __init__(self) -> None:
        super().__init__()
        self.policy(max_hold=timedelta(hours=1))

    async def running(self, **members: Any) -> Job:
        """A job that was just seen to run."""
        message = {"spec": job_json(), "notify": [HOOK], "hold": "PT30M", **members}
        accepted = await self.message(message)
        assert accepted.job.state is not JobState.REJECTED, accepted.job.problems
        name = (await self.job(accepted.job.id)).fixed_target.name
        self.engine.set_state(name, JobState.RUNNING)
        await self.make_pass(1)
        return await self.job(accepted.job.id)

    def fails(self, job: Job, code: int = 3, length: timedelta = LENGTH) -> None:
        """Its command fails, and the program on its node keeps the node."""
        message = "Job failed with non-zero exit code"
        held = Held(exit_code=code, message=message, until=self.now + length)
        self.engine.held_jobs[job.fixed_target.name] = held
        self.engine.output = {"stderr.txt": b"ValueError: no data\n"}

    async def held(self, **members: Any) -> Job:
        """A job that was just seen to be held."""
        job = await self.running(**members)
        self.fails(job)
        await self.make_pass()
        return await self.job(job.id)

    def types(self) -> list[str]:
        """The events that were sent, without what all of their types have in common."""
        return [event["type"].removeprefix("io.slipway.job.").removesuffix(".v1") for event in self.events()]
