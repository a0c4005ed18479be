"""How often workers died: after three deaths for each process, Azure's host ends itself instead of a restart.

Source: RpcFunctionInvocationDispatcher of azure-functions-host. A worker that the host kills does not count.
"""

import asyncio
import time
from collections.abc import Callable

_LIMIT = 3
#: Seconds after which a death no longer belongs to those before it.
_GAP = 30 * 60.0


class Deaths:
    """Counts deaths; `too_many` is set at the last one that is taken."""

    def __init__(self, processes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.too_many = asyncio.Event()
        self._limit = _LIMIT * processes
        self._clock = clock
        self._count = 0
        self._last = clock()

    def add(self) -> bool:
        """Count one more; whether the worker may be restarted."""
        now = self._clock()
        self._count = self._count + 1 if now - self._last < _GAP else 1
        self._last = now
        if self._count >= self._limit:
            self.too_many.set()
        return not self.too_many.is_set()
