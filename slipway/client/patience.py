"""Repeats reads while the service does not answer, which is safe as they change nothing; limits waits."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from slipway.client.refusal import Unanswered

Answer = TypeVar("Answer")
#: Seconds without any answer after which a read is given up, and the longest wait between two tries.
_PATIENCE, _LONGEST_WAIT = 60.0, 8.0


async def patiently(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer; asks again for a minute while the service does not answer. Raises Failure."""
    began, wait = time.monotonic(), 0.5
    while True:
        try:
            return await ask()
        except Unanswered:
            if time.monotonic() - began + wait > _PATIENCE:
                raise
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)


@asynccontextmanager
async def time_limit(seconds: float | None, name: str) -> AsyncIterator[None]:
    """End the block after so many seconds, if any. Raises TimeoutError, which names the job or sweep."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(
            f"no end of {name} was seen within {seconds:,} seconds; it was not cancelled"
        ) from error
