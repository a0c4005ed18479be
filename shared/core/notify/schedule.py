"""schedule: when an event is tried again, and every bound of its delivery that follows from that. Pure.

No other module holds a time of deliveries: due times, the limit beyond which a clock was wrong, and the time
after which an event is given up are derived here, so a longer wait needs no change elsewhere.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta

from shared.core.notify.schedule_bounds import LONGEST, MOST, SHORTEST
from shared.core.pacing.backoff import LONGEST_RETRY_AFTER, check_jitter

_DURATION = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhd])\s*", re.ASCII)
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: The largest share by which a pause is lengthened, so that not all waiting events return at once.
_HOLD_SPREAD = 0.5


def durations(text: str) -> tuple[float, ...]:
    """Durations separated by commas, as 90s, 5m, 2h or 1d; in seconds. Raises ValueError."""
    matches = [_DURATION.fullmatch(word) for word in text.split(",")]
    if None in matches:
        raise ValueError("durations are separated by commas, such as 30s,5m,2h,1d")
    return tuple(float(one[1]) * _UNITS[one[2]] for one in matches if one is not None)


@dataclass(frozen=True)
class Schedule:
    """How often and when an event is sent.

    Raises ValueError for waits that no delivery could keep.
    """

    #: Seconds before the second, the third … try. The first is made at once, so tries = waits + 1.
    waits: tuple[float, ...]
    #: Each wait varies by this share to both sides, so that receivers are not met by all senders at once.
    spread: float = 0.2

    def __post_init__(self) -> None:
        if not 1 <= len(self.waits) <= MOST:
            raise ValueError(f"give 1 to {MOST} waits, not {len(self.waits)}")
        if wrong := [wait for wait in self.waits if not SHORTEST <= wait <= LONGEST]:
            raise ValueError(
                f"a wait is from {SHORTEST:g} s to {LONGEST / _UNITS['d']:g} days, not {wrong[0]:g} s"
            )

    @property
    def tries(self) -> int:
        """How often an event is sent to one receiver before it is given up."""
        return len(self.waits) + 1

    @property
    def total(self) -> timedelta:
        """From the first try to the last, before the spread."""
        return timedelta(seconds=sum(self.waits))

    @property
    def longest_wait(self) -> timedelta:
        """The longest wait, spread included: a due time further ahead was written by a wrong clock."""
        return timedelta(
            seconds=max(max(self.waits) * (1 + self.spread), LONGEST_RETRY_AFTER * (1 + _HOLD_SPREAD))
        )

    @property
    def life(self) -> timedelta:
        """The time after which an event whose address could not even be tried is given up, in whole days.

        Long enough for all the tries at their longest waits, and for two pauses of the longest kind.
        """
        longest = max(self.total * (1 + self.spread), 2 * self.longest_wait)
        return timedelta(days=math.ceil(longest / timedelta(days=1)))

    def delay(self, tries: int, *, retry_after: float | None = None, jitter: float = 0.5) -> float | None:
        """Return the seconds until the next try after `tries` of them, or None when all are used up.

        `jitter` in [0, 1) picks the place within the spread; `retry_after` (seconds) is never undercut.
        """
        if tries < 1:
            raise ValueError("the first try needs no wait")
        check_jitter(jitter)
        if tries >= self.tries:
            return None
        wait = self.waits[tries - 1] * (1 + self.spread * (2 * jitter - 1))
        return max(wait, min(retry_after or 0.0, LONGEST_RETRY_AFTER))

    def hold(self, pause: float, jitter: float) -> float:
        """Return the seconds until the next look at an event whose address is left alone for `pause`."""
        check_jitter(jitter)
        return min(pause, LONGEST_RETRY_AFTER) * (1 + _HOLD_SPREAD * jitter)
