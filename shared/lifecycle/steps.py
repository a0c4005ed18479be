"""steps: acts of one pass that do not need each other. One that fails is left to the next pass."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from shared.core.each import AT_ONCE, each
from shared.core.errors import SlipwayError, Unreadable, quoted
from shared.core.ports import Ports

log = logging.getLogger(__name__)
T = TypeVar("T")


async def step(name: str, act: Awaitable[int]) -> int:
    """The number that an act returns; 0 where it fails, which the log says."""
    try:
        return await act
    except (SlipwayError, TimeoutError) as error:
        log.warning("sweeper: %s are left to the next pass, after %s", name, quoted(error))
        return 0
    except Exception:
        # The steps do not need each other; what failed here is tried again by the next pass.
        log.exception("sweeper: %s are left to the next pass", name)
        return 0


async def for_each(
    ports: Ports, items: Iterable[T], act: Callable[[T], Awaitable[object]], at_once: int = AT_ONCE
) -> int:
    """Act on all items, some at once, within the time of a pass; one that fails never stops the others."""
    number = 0

    async def one(item: T) -> None:
        nonlocal number
        try:
            await act(item)
            number += 1
        except Unreadable:
            pass  # noted where it was read; it stays as it is
        except (SlipwayError, TimeoutError) as error:
            log.warning("left to the sweeper: %s", quoted(error))
        except Exception:
            log.exception("left to the sweeper")

    try:
        async with asyncio.timeout(ports.policy.pass_deadline):
            await each(items, one, at_once)
    except TimeoutError:
        log.warning("the time of the pass is over; the rest is left to the next one")
    return number
