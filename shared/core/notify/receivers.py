"""A process's knowledge of receivers: which do not answer, and which are disabled. Pure.

The ledger holds the disabled receivers; this is a copy of it, so that a delivery needs no request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from shared.core.pacing.breaker import Breaker

#: The greatest age of the copy.
_FRESH = timedelta(minutes=5)


@dataclass(frozen=True)
class Disabled:
    """An address that gets no more events. `url` may be shown; `id` is a digest of the whole address."""

    id: str
    url: str
    since: datetime
    why: str


def receiver_id(url: str) -> str:
    """The id of an address, which reveals nothing of its secret parts."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]


class Receivers:
    """The memory of one process. `breaker` is asked by whole addresses."""

    def __init__(self, breaker: Breaker | None = None) -> None:
        self.breaker = breaker or Breaker(longest=900.0)
        #: events that this process is delivering now, so that no pass of its own sends them a second time
        self.under_way: set[str] = set()
        #: deliveries that go on after their function has returned; the loop itself keeps no task alive
        self.tasks: set[Awaitable[Any]] = set()
        self._disabled: dict[str, Disabled] = {}
        self._read: datetime | None = None

    def disabled(self, url: str) -> Disabled | None:
        """Whether the address wants no more events."""
        return self._disabled.get(receiver_id(url))

    @property
    def any_disabled(self) -> bool:
        """Whether any receiver is known to be disabled, which may have changed."""
        return bool(self._disabled)

    def stale(self, now: datetime) -> bool:
        """Whether the ledger should be read again; a caller that gets True must read it."""
        if self._read is not None and abs(now - self._read) < _FRESH:
            return False
        self._read = now
        return True

    def learn(self, disabled: Iterable[Disabled]) -> None:
        """Replace the copy by the ledger's list."""
        self._disabled = {one.id: one for one in disabled}

    def disable(self, one: Disabled) -> None:
        """Note that a receiver just asked for no more events."""
        self._disabled[one.id] = one

    def enable(self, url: str) -> None:
        """Note that it answers and wants events again."""
        self._disabled.pop(receiver_id(url), None)
        self.breaker.succeeded(url)
