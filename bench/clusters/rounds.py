"""Rates of the same work done in two ways, in rounds that begin with one and the other in turn; a pass."""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from bench import passes
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.core.engine import Engine
from tests.doubles.memory import MemoryLedger
from tests.unit.world import Engines, World

Item = TypeVar("Item")
_AT_ONCE = 16


async def rate(items: Sequence[Item], act: Callable[[Item], Awaitable[object]]) -> float:
    """Items per second, 16 at once."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(item: Item) -> None:
        async with gate:
            await act(item)

    began = time.monotonic()
    await asyncio.gather(*(one(item) for item in items))
    return len(items) / (time.monotonic() - began)


async def in_turn(
    at: int, bare: Callable[[], Awaitable[float]], ours: Callable[[], Awaitable[float]]
) -> tuple[float, float]:
    """The rates of bare calls and of the engine in one round; each is first in every other round."""
    if at % 2:
        first = await bare()
        return first, await ours()
    second = await ours()
    return await bare(), second


def report(pairs: Sequence[tuple[float, float]], things: str) -> None:
    """Print the medians of the rounds, and the ratio with its range."""
    ratios = [ours / bare for bare, ours in pairs]
    bare, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    sys.stdout.write(
        f"bare POSTs     {bare:6.0f} {things}/s\n"
        f"the engine     {ours:6.0f} {things}/s, ratio {statistics.median(ratios):.2f}"
        f" ({min(ratios):.2f} - {max(ratios):.2f})\n"
    )


async def pass_cost(
    engine_of: Callable[[Callable[[], float]], Engine], calls: list[str], active: int
) -> tuple[int, float]:
    """Calls and processor seconds of one pass over so many active jobs, by a process that looked before.

    `engine_of` makes the engine, with a clock; `calls` grows with what its server is asked for.
    """
    world, ledger = World(), MemoryLedger(lambda: world.now)

    def clock() -> float:
        return world.now.timestamp()

    engine = engine_of(clock)
    world.use(engines=Engines(engine), ledger=TableLedger(ledger.store), outbox=TableOutbox(ledger.store))  # type: ignore[arg-type]
    await passes.put_jobs(TableLedger(ledger.store), [passes.queued_job(n) for n in range(active)])
    await world.make_pass()
    world.pass_time(61)
    calls.clear()
    # What plays the storage and the cluster here is large: no other pass's collector walks over that.
    gc.collect()
    gc.freeze()
    before = time.process_time()
    await world.make_pass()
    seconds = time.process_time() - before
    gc.unfreeze()
    await engine.close()
    return len(calls), seconds
