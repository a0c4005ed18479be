"""Jobs that have ended lately, as what an overview counts: no more of each than that needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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


@dataclass(frozen=True)
class EndedJobs:
    """The jobs that ended since a moment; a later one than was asked for where there are too many."""

    jobs: tuple[Ended, ...]
    since: datetime
