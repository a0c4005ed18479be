"""The port to the queues. Pure."""

from __future__ import annotations

from typing import Protocol


class Queues(Protocol):
    """Queues that wake functions up."""

    async def send(self, queue: str, body: str, *, delay: float = 0) -> str:
        """Send a message that never expires, visible after `delay` seconds. Returns its id."""

    async def try_write(self, queue: str) -> None:
        """Make a write to a queue that leaves nothing. Raises Unavailable if it is refused."""
