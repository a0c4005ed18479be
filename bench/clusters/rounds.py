"""The pace of the same work done in two ways, in rounds that begin with one and the other in turn; a pass."""

from __future__ import annotations

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

import psutil

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


class Pace(NamedTuple):
    """How quickly something was done: items per second, and processor seconds for each, of both sides."""

    rate: float
    work: float


async def pace(
    items: Sequence[Item], act: Callable[[Item], Awaitable[object]], spent: Callable[[], float]
) -> Pace:
    """The pace of the items. `spent`: processor seconds until now, of this process and its server.

    Other programs on the machine change them less than the rate.
    """
    before = spent()
    items_per_second = await rate(items, act)
    return Pace(items_per_second, (spent() - before) / len(items))


def spent_with(server: int) -> Callable[[], float]:
    """The processor seconds of this process and of the one with that number."""

    def spent() -> float:
        times = psutil.Process(server).cpu_times()
        return time.process_time() + float(times.user) + float(times.system)

    return spent


async def in_turn(at: int, bare: Callable[[], Awaitable[Pace]], ours: Callable[[], Awaitable[Pace]]) -> Round:
    """The paces of bare calls and of the engine in one round; each is first in every other round."""
    if at % 2:
        first = await bare()
        return Round(first, await ours())
    second = await ours()
    return Round(await bare(), second)


class Round(NamedTuple):
    """The paces of one round."""

    bare: Pace
    ours: Pace


def report(rounds: Sequence[Round], things: str, ours: str = "the engine") -> None:
    """Print the medians of the rounds, and the ratios with their range. `ours`: what is not bare."""
    for name, paces in zip(("bare POSTs", ours), zip(*rounds, strict=True), strict=True):
        rates, work = (statistics.median(column) for column in zip(*paces, strict=True))
        sys.stdout.write(f"{name}     {rates:6.0f} {things}/s, {work * 1e6:.0f} us of processor time each\n")
    _ratio(f"rate, {ours} / bare", [other.rate / bare.rate for bare, other in rounds])
    _ratio(f"processor time, bare / {ours}", [bare.work / other.work for bare, other in rounds])


def _ratio(name: str, values: Sequence[float]) -> None:
    sys.stdout.write(f"{name}: {statistics.median(values):.2f} ({min(values):.2f} - {max(values):.2f})\n")


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
