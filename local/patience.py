"""How long to wait for what other processes do."""

import time
from collections.abc import Callable

#: Called at every change that a patience sees: what watches over a wait counts from there.
observers: list[Callable[[], object]] = []


class Patience:
    """Counts from the last change of what is looked at, not in total: a busy machine is only slow."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._last: object = None
        self._since = clock()

    def is_over(self, state: object) -> bool:
        """Whether nothing has changed for so long; `state` is how things are now."""
        if state != self._last:
            self._last, self._since = state, self._clock()
            for observer in observers:
                observer()
        return self._clock() - self._since > self.seconds
