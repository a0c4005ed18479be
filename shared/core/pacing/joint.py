"""joint: one act at a time for each key, shared by all who asked for it before it began. Pure.

It exists in one process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Joint:
    """The acts that run, and those that follow them."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._next: dict[str, asyncio.Task[Any]] = {}

    async def run(self, key: str, act: Callable[[], Awaitable[T]]) -> T:
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
        return cast("T", await asyncio.shield(task))

    async def _run_after(
        self, key: str, before: asyncio.Task[Any] | None, act: Callable[[], Awaitable[T]]
    ) -> T:
        if before is not None:
            await asyncio.wait({before})
            self._running[key] = self._next.pop(key)
        try:
            return await act()
        finally:
            if key not in self._next:
                del self._running[key]


def _retrieve(task: asyncio.Task[Any]) -> None:
    """An error belongs to the callers; if all of them were cancelled, none is left to ask for it."""
    if not task.cancelled():
        task.exception()
