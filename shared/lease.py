"""The port to leases. They save work and protect nothing: that is what transactions do. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Leases(Protocol):
    """Who does a piece of work now, and when it was begun last."""

    async def take(self, name: str, now: datetime, until: datetime, since: datetime) -> str | None:
        """A token, when nobody holds the lease and nobody took it since then; else None.

        What a clock that was wrong has written, further ahead than this lease would last, counts for nothing.
        """

    async def release(self, name: str, token: str, taken: datetime) -> None:
        """Let others take it before it ends; one that somebody else took meanwhile stays theirs."""
