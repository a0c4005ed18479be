"""Latency of an idle system: message → webhook, one job at a time, at the host's shortest poll."""

from __future__ import annotations

import asyncio
import statistics
import time

from bench.job import message
from bench.rest import Raw
from bench.world import world

#: How often the host asks an empty queue, in seconds: its listener's back-off would be most of the latency.
POLL = 0.005


async def idle(number: int) -> dict[str, float]:
    """Median and 99th percentile, in milliseconds, from before the put to the verified webhook."""
    found = []
    async with world(noop=True, poll=POLL) as stack:
        body = message(f"{stack.running.subscriber_url}/hooks/bench")
        async with Raw(stack.storage) as client:
            for done in range(number + 5):
                start = time.perf_counter()
                await client.put("jobs", body)
                end = await stack.told(done + 1)
                found.append((end - start) * 1000)
                await asyncio.sleep(0.02)
    found = sorted(found[5:])
    return {"idle p50 ms": statistics.median(found), "idle p99 ms": found[int(len(found) * 0.99) - 1]}
