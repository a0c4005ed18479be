"""The port to leases. They save work and protect nothing: transactions protect. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Leases(Protocol):
    """Records which process does a piece of work now, and when that last began."""

    async def take(self, name: str, now: datetime, until: datetime, since: datetime) -> str | None:
        """A token if the lease is free and was not taken since then; else None.

        An expiry further ahead than a lease can last was written by a wrong clock, and is ignored.
        """

    async def release(self, name: str, token: str, start: datetime) -> None:
        """Release it before it expires; a lease that another process took meanwhile stays."""
