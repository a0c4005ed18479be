"""The handshake that keeps us from being sent against a stranger: abuse protection of CloudEvents webhooks.

Before the first event an OPTIONS request to the very address asks for permission; only the header
WebHook-Allowed-Origin is an answer, no status is. The granted rate is kept. Pure but for a clock; in memory.
https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md (version 1.0.2, section 4)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: Seconds until a receiver is asked again, and receivers that are remembered.
_VALID, _KEPT = 24 * 3600.0, 10_000


@dataclass
class _Granted:
    until: float
    #: seconds between two events, and when the next may go
    interval: float
    next: float


class Consents:
    """Who has agreed to be told by `origin`, our DNS name. Empty: nobody is asked, and everybody is told."""

    def __init__(self, origin: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._origin = origin
        self._clock = clock
        self._granted: dict[str, _Granted] = {}

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries, the one that asks and those that tell."""
        return {"WebHook-Request-Origin": self._origin} if self._origin else {}

    def missing(self, url: str) -> bool:
        """Whether the receiver has to be asked first."""
        one = self._granted.get(url)
        return bool(self._origin) and (one is None or one.until <= self._clock())

    def heard(self, url: str, answer: Mapping[str, str]) -> bool:
        """Read the answer's headers, and say whether they are consent."""
        allowed = answer.get("WebHook-Allowed-Origin", "").strip()
        if allowed != "*" and allowed.lower() != self._origin.lower():
            return False
        now = self._clock()
        if len(self._granted) >= _KEPT:
            self._granted.clear()
        interval = _interval(answer.get("WebHook-Allowed-Rate", "*"))
        self._granted[url] = _Granted(until=now + _VALID, interval=interval, next=now)
        return True

    def turn(self, url: str) -> float:
        """Seconds until the next event may go; 0.0 takes the turn."""
        one = self._granted.get(url)
        if one is None:
            return 0.0
        now = self._clock()
        if one.next > now:
            return one.next - now
        one.next = now + one.interval
        return 0.0


def _interval(rate: str) -> float:
    """Seconds between two events by a rate in requests per minute; what is no number is the slowest."""
    rate = rate.strip()
    if rate == "*":
        return 0.0
    return 60.0 / max(1, int(rate)) if rate.isascii() and rate.isdigit() and len(rate) < 10 else 60.0
