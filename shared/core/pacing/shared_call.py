"""SharedCall: one call at a time, for all callers that need what it returns; Joint: the same for each key.

Both exist in one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar, cast

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


#: How many looks hold the files of a folder at once: at most 64 MiB, and an archive of them.
_FEW = 2


class Joint:
    """The acts that run, and those that follow them."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._next: dict[str, asyncio.Task[Any]] = {}

    async def run(self, key: str, act: Callable[[], Awaitable[Result]]) -> Result:
        """The result, or the error, of an act that begins after this call.

        While one runs, all callers wait for its end and share one further act. An act goes on if its callers
        are cancelled. All acts of a key have to do the same.
        """
        task = self._next.get(key)
        if task is None:
            before = self._running.get(key)
            task = asyncio.create_task(self._run_after(key, before, act))
            if before is None:
                self._running[key] = task
            else:
                self._next[key] = task
            task.add_done_callback(_retrieve)
        return cast("Result", await asyncio.shield(task))

    async def _run_after(
        self, key: str, before: asyncio.Task[Any] | None, act: Callable[[], Awaitable[Result]]
    ) -> Result:
        if before is not None:
            await asyncio.wait({before})
            self._running[key] = self._next.pop(key)
        try:
            return await act()
        finally:
            if key not in self._next:
                del self._running[key]


class JointLooks(Joint):
    """Looks at folders. Only a few of them hold files in memory at once."""

    def __init__(self) -> None:
        super().__init__()
        self.few = asyncio.Semaphore(_FEW)


def _retrieve(task: asyncio.Task[Any]) -> None:
    """An error belongs to the callers; if all of them were cancelled, none is left to ask for it."""
    if not task.cancelled():
        task.exception()
