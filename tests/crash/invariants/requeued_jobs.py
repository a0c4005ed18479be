"""A cluster that restarts a running job between two passes, and the invariants of its record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from shared.core.engine import Observation
from shared.core.job import Job, JobState

#: Rounds that each run lasts: longer than a single fault can hide it.
_LASTS = 6
#: The states in the record from the first run on; before it, a fault may hide that the job was queued.
_STATES = [JobState.RUNNING, JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED]


@dataclass
class Requeues:
    """Runs every job twice under one name. It is never visible as queued in between."""

    rounds: Counter[str] = field(default_factory=Counter)
    #: when each job's last run began
    starts: dict[str, datetime] = field(default_factory=dict)

    def after(self, name: str, observation: Observation, now: datetime) -> Observation:
        """The cluster's report of a job one round later."""
        if observation.state.terminal:
            return observation
        number = self.rounds[name]
        self.rounds[name] += 1
        if number in (0, _LASTS):
            self.starts[name] = now
        if number < 2 * _LASTS:
            return observation._replace(state=JobState.RUNNING, started=self.starts[name])
        return observation._replace(state=JobState.SUCCEEDED)

    def wrong(self, job: Job) -> list[str]:
        """Violations of: both runs are in the record as one attempt, which counts from the second start."""
        name = job.target.name if job.target else ""
        states = [entry.state for entry in job.history]
        history = states[states.index(JobState.RUNNING) :] if JobState.RUNNING in states else states
        right = (history, job.attempt, job.started) == (_STATES, 1, self.starts.get(name))
        return [] if right else [f"{job.id} ran twice, and says {history}, started {job.started}"]
