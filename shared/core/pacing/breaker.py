"""A breaker: after some failures in a row all calls stop for a while, then one call probes. Pure, in memory.

Each process learns by itself, and forgets when it ends, which costs a few failed tries; a shared state would
cost a request for each job.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

#: Failing keys that are remembered; beyond it the oldest goes.
_KEYS = 10_000


@dataclass
class _Failing:
    failures: int = 0
    #: seconds of the current pause, and when it is over
    pause: float = 0.0
    until: datetime | None = None
    #: when the first of these pauses began
    opened: datetime | None = None
    probing: bool = False


@dataclass(frozen=True)
class Opened:
    """A breaker that lets nothing through except a probe."""

    state: Literal["open", "half-open"]
    since: datetime
    #: when the next probe is let through; the last one may be in progress
    until: datetime


class Breaker:
    """Many breakers of one kind, by key: a cluster, or an address.

    Opens after `failures` in a row for `pause` seconds; each probe that fails doubles that, up to `longest`.
    """

    def __init__(self, failures: int = 5, pause: float = 30.0, longest: float = 30.0) -> None:
        self._failures = failures
        self._pause = pause
        self._longest = longest
        self._failing: dict[str, _Failing] = {}

    def wait(self, key: str, now: datetime) -> float:
        """Seconds until the next try is allowed; 0.0: try now, and report the outcome.

        After a pause the first caller may probe; the others wait for its outcome.
        """
        one = self._failing.get(key)
        if one is None or one.until is None:
            return 0.0
        if _holds(one, now):
            return (one.until - now).total_seconds()
        one.probing = one.failures >= self._failures
        one.until = now + timedelta(seconds=one.pause) if one.probing else None
        one.opened = one.opened if one.probing else None
        return 0.0

    def open(self, key: str, now: datetime) -> bool:
        """Whether a try would have to wait; does not use up the probe."""
        one = self._failing.get(key)
        return one is not None and _holds(one, now)

    def state(self, key: str, now: datetime) -> Opened | None:
        """Since when a breaker is open, or half-open (it awaits a probe); None: closed. Uses up no probe."""
        one = self._failing.get(key)
        if one is None or one.until is None or one.opened is None:
            return None
        if _holds(one, now) and not one.probing:
            return Opened("open", one.opened, one.until)
        return Opened("half-open", one.opened, one.until) if one.failures >= self._failures else None

    def succeeded(self, key: str) -> None:
        """Forget the failures of a key: it works."""
        self._failing.pop(key, None)

    def failed(self, key: str, now: datetime, *, pause: float | None = None) -> None:
        """Count a failure of a key. `pause`: seconds for which it asks to be left alone."""
        one = self._failing.setdefault(key, _Failing())
        if len(self._failing) > _KEYS:
            del self._failing[next(iter(self._failing))]
        if one.until is not None and not one.probing and not pause:
            return  # begun before it opened: the pause is over soon enough
        one.failures += 1
        over = one.failures - self._failures
        grown = min(self._longest, self._pause * 2.0 ** min(over, 30)) if over >= 0 else 0.0
        one.pause = max(grown, pause or 0.0)
        one.until = now + timedelta(seconds=one.pause) if one.pause else None
        one.opened = (one.opened or now) if one.pause else None
        one.probing = False


def _holds(one: _Failing, now: datetime) -> bool:
    """Whether its pause lasts. More than the whole pause would be left after the clock went back."""
    return one.until is not None and 0 < (one.until - now).total_seconds() <= one.pause
