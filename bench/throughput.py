"""Throughput: N messages on the queue → N verified webhooks, through the real host and worker."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import psutil

from bench.cost.money import by_service, dollars
from bench.job import message
from bench.rest import Raw
from bench.world import World, cpu, cpu_of_all, polls, world

_WARM = 20
#: Messages that are sent before the webhooks of earlier ones have come: what worker and host hold, and some
#: that wait. A call to a queue of Azurite costs more the deeper it is; for that the floor goes in chunks.
_AHEAD = 128
#: After this many webhooks, the same number of messages follows.
_STEP = 8
#: Seconds between two looks at what came; as with the peer, so that watching costs both the same.
_LOOK_EVERY = 0.005
#: Seconds after the last webhook until its message is deleted, too: that is counted, and not timed.
_AFTER = 1.0


async def dispatcher(number: int, *, noop: bool, rtt: float = 0.0) -> dict[str, float]:
    """Jobs a second, requests a job, and the worker's processor milliseconds a job."""
    name = ("no-op" if noop else "emulator") + (" with RTT" if rtt else "")
    async with world(noop=noop, rtt=rtt) as stack:
        body = message(f"{stack.running.receiver_url}/hooks/bench")
        async with Raw(stack.storage) as client:
            for _ in range(_WARM):
                await client.put("jobs", body)
            await stack.wait_for_webhooks(_WARM)
            await asyncio.sleep(0.3)
            return _with_name(name, await _measured(stack, client, body, number))


async def _measured(stack: World, client: Raw, body: bytes, number: int) -> dict[str, float]:
    storage, _, receiver, _ = (psutil.Process(process.pid) for process in stack.running.processes)
    clocks: dict[str, Callable[[], float]] = {
        "worker": partial(cpu, stack.worker),
        "host": partial(cpu, stack.host),
        "storage": partial(cpu_of_all, storage),
        "receiver": partial(cpu, receiver),
        "sender": time.process_time,
    }
    before, spent = Counter(stack.requests.lines), {who: clock() for who, clock in clocks.items()}
    start = time.perf_counter()
    end = await feed(stack, client, body, number)
    await asyncio.sleep(_AFTER)
    spent = {who: clock() - spent[who] for who, clock in clocks.items()}
    lines = stack.requests.lines_since(before)
    return {
        "jobs/s": number / (end - start),
        "requests/job": (lines.total() - polls(lines)) / number,
        "polls/job": polls(lines) / number,
        **{f"{who} CPU ms/job": seconds * 1000 / number for who, seconds in spent.items()},
        "$/million": dollars(by_service(lines, number), invocations=1),
    }


async def feed(stack: World, client: Raw, body: bytes, number: int) -> float:
    """Send that many, never further ahead than `_AHEAD`; the moment of the last webhook."""
    gate, sending, end = asyncio.Semaphore(16), list[asyncio.Task[None]](), 0.0

    async def one() -> None:
        async with gate:
            await client.put("jobs", body)

    for start in range(0, number, _STEP):
        upto = min(number, start + _AHEAD)
        sending += [asyncio.create_task(one()) for _ in range(len(sending), upto)]
        end = await stack.wait_for_webhooks(_WARM + min(number, start + _STEP), _LOOK_EVERY)
    await asyncio.gather(*sending)
    return end


def _with_name(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name} {what}": value for what, value in figures.items()}
