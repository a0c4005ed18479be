"""looks: the next time to look at each of many things, so that a pass looks at few. Pure.

It exists in one process: this one also looks at things that another process has just looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from shared.core.pacing.wait_kinds import Planned

#: Beyond this number, all are forgotten at once, which costs one look at each.
_MOST = 20_000


class Looks:
    """The next look at each thing, by its id."""

    def __init__(self) -> None:
        self._next: dict[str, Planned] = {}

    def due(self, first: Mapping[str, Planned], now: datetime, most: int) -> list[str]:
        """The ids that are due, the longest overdue first, at most so many.

        `first`: when each is due that this process has not looked at.
        """
        times = {one: self._next.get(one, at) for one, at in first.items()}
        due = (one for one, planned in times.items() if planned.is_over(now))
        return sorted(due, key=lambda one: (times[one].at, one))[:most]

    def plan(self, one: str, at: datetime, now: datetime) -> None:
        """Set the time of the next look."""
        if len(self._next) >= _MOST:
            self._next.clear()
        self._next[one] = Planned(at, at - now)
