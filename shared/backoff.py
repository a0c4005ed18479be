"""When to try again. Pure: the random number is passed in."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

#: The longest wait that a receiver may ask for, in seconds.
LONGEST_RETRY_AFTER = 24 * 3600.0

#: Longer than any wait of the schedule of deliveries, and than any wait of a job.
LONGEST_DELIVERY_WAIT = timedelta(hours=30)
LONGEST_JOB_WAIT = timedelta(hours=1)

_MINUTE, _HOUR = 60.0, 3600.0
_SECONDS = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True)
class RetryPolicy:
    """How often and when an event is sent; the default is the example schedule of Standard Webhooks 1.0.0."""

    #: Seconds before attempt 1, 2, 3 …; as many attempts as entries.
    schedule: tuple[float, ...] = (
        0.0,
        5.0,
        5 * _MINUTE,
        30 * _MINUTE,
        2 * _HOUR,
        5 * _HOUR,
        10 * _HOUR,
        14 * _HOUR,
        20 * _HOUR,
        24 * _HOUR,
    )
    #: Each wait varies by this share to both sides, so that receivers are not met by all senders at once.
    spread: float = 0.2

    def delay(self, attempt: int, *, retry_after: float | None = None, jitter: float = 0.5) -> float | None:
        """Return the seconds until the next try after `attempt` tries so far, or None when all are used up.

        `jitter` in [0, 1) picks the place within the spread; `retry_after` (seconds) is never undercut.
        """
        if attempt < 0:
            raise ValueError("attempt counts the tries so far, from 0")
        _check_jitter(jitter)
        if attempt >= len(self.schedule):
            return None
        wait = self.schedule[attempt] * (1 + self.spread * (2 * jitter - 1))
        return max(wait, min(retry_after or 0.0, LONGEST_RETRY_AFTER))


def is_due(due: datetime, now: datetime, longest: timedelta) -> bool:
    """Whether a time has come. One further ahead than any wait was written by a clock that was wrong."""
    return due <= now or due - now > longest


def full_jitter(attempt: int, base: float, cap: float, jitter: float) -> float:
    """Return a wait in seconds, spread over the whole of `base` doubled `attempt` times, at most `cap`."""
    if attempt < 0:
        raise ValueError("attempt counts the tries so far, from 0")
    _check_jitter(jitter)
    return jitter * min(cap, math.ldexp(base, min(attempt, 64)))


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header (RFC 9110 10.2.3), seconds or a date, as seconds between 0 and 24 hours.

    Returns None where there is none or it cannot be read. Some senders' dates are in zones other than GMT.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(max((date - now).total_seconds(), 0.0), LONGEST_RETRY_AFTER)


def _check_jitter(jitter: float) -> None:
    if not 0 <= jitter < 1:
        raise ValueError("jitter is in [0, 1), as random.random() returns it")
