"""SharedCall: one call at a time, for all callers that need what it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SharedCall(Generic[Result]):
    """A call that callers share instead of making it one after the other, each for as long as it takes.

    `call` bounds its own time. A caller that is cancelled only stops waiting.
    """

    def __init__(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        self._call = call
        self._task: asyncio.Task[Result] | None = None

    async def result(self) -> Result:
        """The result of the call that is in progress, or of a new one. Raises what it raised."""
        task = self._task or self._begin()
        await asyncio.wait({task})
        return task.result()

    async def begin(self, patience: float) -> None:
        """Make the call, unless it is in progress, and wait so many seconds for its end; raises nothing.

        For a caller that can do without the result: only the first one waits.
        """
        if self._task is None:
            await asyncio.wait({self._begin()}, timeout=patience)

    async def stop(self) -> None:
        """Cancel the call that is in progress."""
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait({task})

    def _begin(self) -> asyncio.Task[Result]:
        self._task = asyncio.create_task(self._call())
        self._task.add_done_callback(self._end)
        return self._task

    def _end(self, task: asyncio.Task[Result]) -> None:
        self._task = None
        if not task.cancelled():
            task.exception()  # there may be no caller who waits for it
