"""Wakes the listener of a queue, so that a message from this host is fetched at once."""

import asyncio
from collections import defaultdict


class Wakeups:
    """Events by queue; see storage.queue_key."""

    def __init__(self) -> None:
        self._events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def event(self, queue: str) -> asyncio.Event:
        """The event of a queue, for its listener to wait on and to clear."""
        return self._events[queue]

    def notify(self, queue: str) -> None:
        """A message was sent to the queue."""
        if queue in self._events:
            self._events[queue].set()
