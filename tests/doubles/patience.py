"""The patience of the client by a clock of the test: a wait takes no time, and is written down."""

from __future__ import annotations

import asyncio

from slipway.client.calls.patience import Patience


class Waits:
    """A clock that only waits move on, the waits, and what was lines about them."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.lines: list[str] = []

    async def sleep(self, seconds: float) -> None:
        """Move the clock on, and let others work."""
        await asyncio.sleep(0)
        self.now += seconds
        self.slept.append(seconds)

    def patience(self, seconds: float = 300.0) -> Patience:
        """A patience by this clock."""
        return Patience(seconds, clock=lambda: self.now, sleep=self.sleep, tell=self.lines.append)
