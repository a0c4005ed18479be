"""waits: every kind of wait until a time, and the longest that it can take. Pure.

Clocks go back, and the clock of one process may be days ahead of the others. So no time that was written
somewhere is believed further ahead than its kind of wait can last: then a wrong clock wrote it, and the wait
is over. `Policy.is_over` decides that for all of them.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple


class WaitKind(StrEnum):
    """What a time is waited for."""

    #: an accepted job waits for its slot, because its source asked for too many in an hour
    SLOT = "slot"
    #: an accepted job waits for something that has no time: other jobs, a seat, a claim, a limit, a pause
    ROOM = "room"
    #: an accepted job waits for its next attempt
    ATTEMPT = "attempt"
    #: a submission is repeated when its lease is over, or later, because the cluster refused it for now
    SUBMISSION = "submission"
    #: a job is missing on its cluster, and the next miss has to be a while later
    EVIDENCE = "evidence"
    #: a delivery waits for its next try
    TRY = "try"
    #: an event waits for the sweeper, because it was not delivered at once
    EVENT = "event"
    #: a job that may be idle is looked at again
    IDLE_CHECK = "idle check"
    #: an idle job was warned, and ends after a while
    WARNING = "warning"
    #: a folder has new files, and must be quiet first
    SETTLE = "settle"
    #: an incomplete folder gets a note on what it waits for
    NOTE = "note"


#: Of one job, unless it waits for its slot of the hour.
LONGEST_JOB_WAIT = timedelta(hours=1)
#: For a slot of the hour; and how much later it may still be taken.
LONGEST_SLOT, LATE = timedelta(days=30), timedelta(days=1)
#: By so much more than planned a wait may seem to last, because the clocks of two processes differ.
SKEW = timedelta(hours=1)


def is_over(due: datetime, now: datetime, longest: timedelta) -> bool:
    """Whether a wait is over. A time further ahead than the longest wait was written by a wrong clock."""
    return due <= now or due - now > longest


class Planned(NamedTuple):
    """The end of a wait, and how long that was to take."""

    at: datetime
    wait: timedelta

    def is_over(self, now: datetime) -> bool:
        """The same, where it is known how long this one was to take."""
        return is_over(self.at, now, self.wait + SKEW)


def not_ahead(since: datetime, now: datetime) -> datetime:
    """A time in the past, as it counts: one that is ahead was written by a wrong clock, and counts as now."""
    return min(since, now)
