"""The wait between two polls of a queue: random, exponential, as in the Functions host."""

from collections.abc import Callable
from random import Random

_FIRST = 0.1
_SPREAD = 0.2


class Backoff:
    """Delays in seconds that double from 0.1 up to `limit`, each ±20 %; `random` gives numbers in [0, 1).

    A limit below 0.1, which Azure does not accept, is the only delay (at least 0.001), for measuring latency.
    """

    def __init__(self, limit: float, random: Callable[[], float] | None = None) -> None:
        self._limit = max(limit, 0.001)
        self._random = random or Random().random  # noqa: S311 - spreads load, protects nothing
        self._next = min(_FIRST, self._limit)

    def reset(self) -> None:
        """A poll found something: start again from the shortest delay."""
        self._next = min(_FIRST, self._limit)

    def delay(self) -> float:
        """Seconds until the next poll, longer after each empty one."""
        base = self._next
        self._next = min(base * 2, self._limit)
        return min(base * (1 - _SPREAD + 2 * _SPREAD * self._random()), self._limit)
