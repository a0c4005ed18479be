"""reads: calls of a file system that may hang, in a few threads of their own.

A thread that waits for the file system cannot be ended. So one cluster's share can block only these few: the
process needs its common threads to resolve names, and other clusters need theirs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

from shared.core.errors import Transient

P = ParamSpec("P")
T = TypeVar("T")
#: Calls at once.
_MOST = 8
#: Seconds without a call that begins or ends, while all threads are taken: the file system hangs.
_STUCK = 5.0


class Reads:
    """The threads, and when a call last began or ended in one. `refusal`: the error while all hang."""

    def __init__(self, refusal: type[Transient]) -> None:
        self._refusal = refusal
        self._pool = ThreadPoolExecutor(_MOST, thread_name_prefix="reads")
        # `_moved`: of the monotonic clock, in seconds.
        self._lock, self._running, self._moved = Lock(), 0, 0.0

    async def run(self, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """The result of the call, or its error. Raises the refusal at once if all threads hang."""
        with self._lock:
            stuck = self._running == _MOST and time.monotonic() - self._moved > _STUCK
        if stuck:
            raise self._refusal("the file system of the cluster does not answer")
        counted = partial(self._counted, partial(call, *args, **named))
        return await asyncio.get_running_loop().run_in_executor(self._pool, counted)

    def _counted(self, call: Callable[[], T]) -> T:
        self._count(1)
        try:
            return call()
        finally:
            self._count(-1)

    def _count(self, by: int) -> None:
        with self._lock:
            self._running, self._moved = self._running + by, time.monotonic()
