"""A queue of things that one task finds and others take, each once, while the search goes on."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, Self, TypeVar

Thing = TypeVar("Thing")


class Arriving(Generic[Thing]):
    """An iterator that several tasks may share; it ends when it is closed and empty."""

    def __init__(self, things: Iterable[Thing] = ()) -> None:
        self._waiting, self._changed, self._closed = deque(things), asyncio.Event(), False
        #: everything that was ever added, in order
        self.all = list(self._waiting)
        #: whether `all` is complete
        self.is_whole = False

    def add(self, things: Iterable[Thing]) -> None:
        """Add these for others to take."""
        several = list(things)
        self.all += several
        self._waiting += several
        self._changed.set()

    def close(self, *, is_whole: bool = False) -> None:
        """Mark the end: nothing more is added."""
        self._closed, self.is_whole = True, is_whole
        self._changed.set()

    async def begun(self) -> bool:
        """Wait for the first thing; False if there is none."""
        while not (self.all or self._closed):
            await self._change()
        return bool(self.all)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Thing:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            await self._change()
        return self._waiting.popleft()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


def complete(things: Iterable[Thing]) -> Arriving[Thing]:
    """A closed queue of these things."""
    arriving = Arriving(things)
    arriving.close(is_whole=True)
    return arriving
