"""each: act on many items, some at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How many calls are made at once.
AT_ONCE = 16


async def each(
    items: Iterable[Item], act: Callable[[Item], Awaitable[Result]], at_once: int = AT_ONCE
) -> list[Result]:
    """The results in the order of the items. Raises the first error.

    A few workers share the items: a task for each item and a semaphore cost time that grows with its square.
    """
    items = list(items)
    if len(items) == 1:  # tasks are expensive
        return [await act(items[0])]
    results: dict[int, Result] = {}
    rest = enumerate(items)

    async def work() -> None:
        for index, item in rest:
            results[index] = await act(item)

    await asyncio.gather(*(work() for _ in range(min(at_once, len(items)))))
    return [results[index] for index in range(len(items))]
