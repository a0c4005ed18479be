"""Many calls of one engine, some at once. An answer that cannot be parsed does not hide the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from shared.core.errors import EngineError, Transient

log = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")

_PARALLEL = 16


async def each(items: Iterable[Item], act: Callable[[Item], Awaitable[Result]]) -> list[Result]:
    """The results in the order of the items. Raises the first error."""
    items = list(items)
    if len(items) == 1:  # tasks are expensive
        return [await act(items[0])]
    gate = asyncio.Semaphore(_PARALLEL)

    async def one(item: Item) -> Result:
        async with gate:
            return await act(item)

    return await asyncio.gather(*(one(item) for item in items))


async def alone(name: str, question: Awaitable[Result | None]) -> Result | None:
    """The observation of one job; None if it cannot be parsed. Raises any other error of the cluster."""
    try:
        return await question
    except Transient as error:
        log.warning("%s", error)
    except EngineError:
        raise
    except Exception:
        # A job can write its own record: an error in reading it concerns that job only.
        log.exception("the observation of %s cannot be parsed", name)
    return None
