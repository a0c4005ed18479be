"""How long a queue has refused: after that, Azure's host ends itself, and the platform starts the next one.

Source: QueueListener.cs, which polls on after a server's own errors and throws all others, once the client
for storage has repeated the request for some 20 s.
"""

import time
from collections.abc import Callable

from azure.core.exceptions import AzureError, HttpResponseError

#: The queue is being deleted, or disabled; and the first status that is the server's own fault.
_CONFLICT, _SERVERS = 409, 500


class StorageAwayError(Exception):
    """Storage has refused for so long that the host has to end."""


class Outage:
    """Of one queue; `limit` in seconds."""

    def __init__(self, queue: str, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._queue = queue
        self._limit = limit
        self._clock = clock
        self._since: float | None = None

    def note_failure(self, error: AzureError) -> None:
        """A request has failed. Raises StorageAwayError once none was answered for `limit` seconds."""
        status = error.status_code or 0 if isinstance(error, HttpResponseError) else 0
        if status == _CONFLICT or status >= _SERVERS:
            self._since = None
            return
        if self._since is None:
            self._since = self._clock()
        if self._clock() - self._since >= self._limit:
            raise StorageAwayError(f"queue {self._queue} refuses for {self._limit:g} s")

    def note_answer(self) -> None:
        """A request was answered."""
        self._since = None
