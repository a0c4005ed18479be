"""pauses: what a service asks for by `Retry-After`. Nothing is sent to it before that is over.

A refused change keeps back other changes, and nothing that is only read: services limit each by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from aiohttp import ClientHandlerType, ClientRequest, ClientResponse

from shared.core.errors import Busy
from shared.core.pacing.backoff import parse_retry_after

_ASKS = frozenset({429, 503})
_READS = frozenset({"GET", "HEAD"})
#: The longest pause in seconds, since an end that a person asks for has to reach the cluster.
LONGEST = 300.0


class Pauses:
    """The pauses of each address, for the requests of one session. `clock` never goes back."""

    def __init__(self, service: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._service, self._clock = service, clock
        #: address, and whether it is read → when it may be asked again
        self._over: dict[tuple[str, bool], float] = {}

    def check(self, address: str, method: str) -> None:
        """Raise Busy, in the same words each time, while the pause lasts."""
        ways = [True] if method in _READS else [True, False]
        if any(self._clock() < self._over.get((address, reads), 0.0) for reads in ways):
            raise Busy(f"{self._service} asks for a pause (Retry-After), and is left alone until it is over")

    def heed(self, address: str, method: str, status: int, retry_after: str | None) -> None:
        """Note what an answer asks for."""
        wait = parse_retry_after(retry_after, datetime.now(UTC)) if status in _ASKS else None
        if wait:
            key, until = (address, method in _READS), self._clock() + min(wait, LONGEST)
            self._over[key] = max(until, self._over.get(key, until))  # answers overtake each other

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Send a request of the session, unless its service asked for a pause."""
        address = str(request.url.origin())
        self.check(address, request.method)
        answer = await handler(request)
        self.heed(address, request.method, answer.status, answer.headers.get("Retry-After"))
        return answer
