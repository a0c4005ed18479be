"""A cluster whose job fails and keeps its node, and the invariants of its record and events."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

from shared.core.job import Job, JobState, Reason
from shared.core.relations.hold import Held, held_end
from tests.unit.world import World

#: Rounds for which the node is kept: longer than a single fault can hide it.
_LASTS = 8
_MESSAGE = "Job failed with non-zero exit code"


@dataclass
class Holds:
    """Every job fails with exit code 3, and keeps its node for some rounds, or until that is lost."""

    loses_nodes: bool = False
    rounds: Counter[str] = field(default_factory=Counter)

    def pass_round(self, world: World) -> None:
        """The cluster one round later."""
        for name, observation in list(world.engine.jobs.items()):
            if observation.state is not JobState.RUNNING:
                continue
            number = self.rounds[name]
            self.rounds[name] += 1
            if number == 0:
                until = world.now + timedelta(minutes=_LASTS)
                world.engine.held_jobs[name] = Held(exit_code=3, message=_MESSAGE, until=until)
            elif number >= _LASTS and self.loses_nodes:
                world.engine.set_state(name, JobState.FAILED, reason=Reason.INFRASTRUCTURE)
            elif number >= _LASTS:
                world.engine.set_state(name, JobState.FAILED, reason=Reason.USER, exit_code=3)

    def wrong(self, world: World, job: Job) -> list[str]:
        """Violations of: the hold is told once, under one id, before the end, which is the command's."""
        result = []
        if (job.state, job.reason, job.exit_code, job.attempt) != (JobState.FAILED, Reason.USER, 3, 1):
            result.append(
                f"{job.id} ended {job.state} ({job.reason}), {job.exit_code}, attempt {job.attempt}"
            )
        if held_end(job.hold) is None:
            result.append(f"{job.id} was held, and its record does not say so")
        events = [(identity, json.loads(body)) for _, identity, body in world.webhooks.posts]
        holds = {(identity, event["data"]["sequence"]) for identity, event in events if _is(event, "held")}
        ends = {event["data"]["sequence"] for _, event in events if _is(event, "failed")}
        if len(holds) != 1 or min(ends, default=0) < max(sequence for _, sequence in holds):
            result.append(f"{job.id} was said to be held by {sorted(holds)}, and to have failed by {ends}")
        return result


def _is(event: dict[str, str], word: str) -> bool:
    return event["type"] == f"io.slipway.job.{word}.v1"
