"""When to try again. Pure: the random number is passed in."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: The most seconds for which an address is left alone, whether it requests that or keeps failing.
LONGEST_RETRY_AFTER = 24 * 3600.0

#: RFC 9110 sets no limit to the digits; more than fit into a header that is considered are none of a wait.
_SECONDS = re.compile(r"[0-9]{1,100}", re.ASCII)
_LEAP_SECOND = re.compile(r"(?<=[0-9]{2}:[0-9]{2}):60(?![0-9])", re.ASCII)


def full_jitter(tries: int, base: float, cap: float, jitter: float) -> float:
    """Return a wait in seconds, spread over the whole of `base` doubled `tries` times, at most `cap`."""
    if tries < 0:
        raise ValueError("tries counts those so far, from 0")
    check_jitter(jitter)
    return jitter * min(cap, math.ldexp(base, min(tries, 64)))


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header (RFC 9110 10.2.3), seconds or a date, as seconds between 0 and 24 hours.

    Returns None if it is missing or cannot be read. Some senders' dates are in zones other than GMT.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(_LEAP_SECOND.sub(":59", text))
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(max((date - now).total_seconds(), 0.0), LONGEST_RETRY_AFTER)


def check_jitter(jitter: float) -> None:
    """Raise ValueError for a number that `random.random()` cannot return."""
    if not 0 <= jitter < 1:
        raise ValueError("jitter is in [0, 1), as random.random() returns it")
