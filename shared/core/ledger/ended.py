"""Jobs that have ended lately, as what an overview counts: no more of each than that needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.core.cost.usage import Usage
from shared.core.states import JobState


class Ended(NamedTuple):
    """A job that has ended, and when that was recorded."""

    id: str
    at: datetime
    state: JobState
    source: str
    team: str
    experiment: str
    name: str
    #: why it failed; "" for others
    error: str
    usage: Usage
    #: seconds for which it ran, with all its attempts
    ran: float


#: How long after its moment an end may come into storage: what is older than that is not read again.
LATE = timedelta(minutes=10)


@dataclass(frozen=True)
class EndedJobs:
    """The jobs that ended since a moment; a later one than was asked for where there are too many."""

    jobs: tuple[Ended, ...]
    since: datetime

    def and_later(self, later: EndedJobs, until: datetime, most: int) -> EndedJobs:
        """These, which were read at `until`, and those read since; at most `most`, the last ends."""
        if later.since > until:
            return later  # there were too many meanwhile
        ends = {job.id: job for job in (*self.jobs, *later.jobs)}
        jobs = sorted(ends.values(), key=lambda job: job.at, reverse=True)
        since = self.since if len(jobs) <= most else jobs[most - 1].at
        return EndedJobs(tuple(jobs[:most]), since)
