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
    """The results in the order of the items. Raises the first error at once; every item is tried even so.

    A few workers share the items, since a task for each of them would take several times as long.
    """
    items = list(items)
    if len(items) <= 1:
        return [await act(item) for item in items]
    results: dict[int, Result] = {}
    rest, working = enumerate(items), min(at_once, len(items))
    end = asyncio.get_running_loop().create_future()

    async def work() -> None:
        nonlocal working
        for index, item in rest:
            try:
                results[index] = await act(item)
            except Exception as error:  # noqa: BLE001 - raised below
                if not end.done():
                    end.set_exception(error)
        working -= 1
        if not working and not end.done():
            end.set_result(None)

    await asyncio.gather(end, *(work() for _ in range(working)))
    return [results[index] for index in range(len(items))]
