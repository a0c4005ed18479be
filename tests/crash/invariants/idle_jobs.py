"""A cluster with an idle job, and the invariants of its record and events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta

from shared.core.job import Job, JobState, Reason
from tests.unit.world import World

#: Seconds until a warning, and from the warning to the end.
LIMIT, GRACE = 240.0, 120.0
#: Rounds for which a warned job works: longer than a single fault can hide it.
_LASTS = 8


@dataclass
class Idles:
    """Reports the usage of one node, whose GPU is idle until the job is warned, or for good."""

    works_again: bool = False
    rounds_at_work: int = field(default=0)

    def pass_round(self, world: World) -> None:
        """Report the node's usage in the next round; a job that has worked long enough ends."""
        warned = any(job.idle is not None for job in world.ledger.jobs) or self.rounds_at_work > 0
        works = self.works_again and warned
        self.rounds_at_work += works
        lines = [
            {"rank": 0, "time": int((world.now + timedelta(seconds=at)).timestamp()), "gpu0_percent": percent}
            for at in (20, 40, 60)
            for percent in ([90] if works else [0])
        ]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        world.engine.output["usage.jsonl"] = world.engine.output.get("usage.jsonl", b"") + text.encode()
        for name, observation in list(world.engine.jobs.items()):
            if observation.state is JobState.RUNNING and self.rounds_at_work >= _LASTS:
                world.engine.set_state(name, JobState.SUCCEEDED)

    def wrong(self, world: World, job: Job) -> list[str]:
        """Violations of: one warning under one id, and the right end, not before the time in the warning."""
        events = [(identity, json.loads(body)) for _, identity, body in world.webhooks.posts]
        warnings = {identity for identity, event in events if event["type"] == "io.slipway.job.idle.v1"}
        result = [] if len(warnings) == 1 else [f"{job.id} was warned under {len(warnings)} ids"]
        expected = (
            (JobState.SUCCEEDED, None, False) if self.works_again else (JobState.CANCELLED, Reason.IDLE, True)
        )
        if (job.state, job.reason, job.cancel) != expected:
            result.append(f"{job.id} ended {job.state} ({job.reason}), cancelled: {job.cancel}")
        if job.idle is not None:
            idle = job.idle
            requests = [entry.at for entry in job.history if "its end is requested" in entry.note]
            if not requests or requests[0] - idle.warned < timedelta(seconds=GRACE):
                result.append(f"{job.id} was warned at {idle.warned}, and its end requested at {requests}")
            if idle.latest - idle.since < timedelta(seconds=LIMIT):
                result.append(
                    f"{job.id} was warned although it was idle from {idle.since} to {idle.latest} only"
                )
        return result
