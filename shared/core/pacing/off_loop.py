"""off_loop: long work on one document in a thread, so that the loop serves others meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: The bytes of a document from which on it is handled in a thread. Reading and checking costs some
#: milliseconds up to here, and half a second for the largest one.
LONG = 16 << 10


async def off_loop(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of pure work on a document of `size` bytes, which does no I/O and changes nothing shared."""
    if size < LONG:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
