"""`python -m bench.worker.concurrency`: what one worker does and needs with N invocations at once.

Messages at several sizes of a batch (host.json), and submissions by HTTP at several numbers of callers, with
a round trip before the storage. What was decided by it is in host.json and infra/dispatcher.bicep.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import aiohttp
import psutil

from bench.job import SPEC, message
from bench.rest import Raw
from bench.throughput import feed
from bench.world import cpu, world

#: Messages that are taken at once, and how many may be left when more are taken.
BATCHES = ((1, 0), (4, 2), (8, 4), (16, 8), (32, 16), (32, 32))
CALLERS = (1, 4, 16, 32, 64)
_WARM = 20
_PAUSE = 0.02


class Row(NamedTuple):
    """One setting: jobs a second, the worker's ms a job and largest MiB, ms of a call (median, slowest)."""

    name: str
    jobs: float
    processor: float
    memory: float
    median: float = 0.0
    slowest: float = 0.0


async def batch(size: int, threshold: int, number: int, rtt: float) -> Row:
    """Messages to webhooks, at most size + threshold of them at once."""
    queues = {"batchSize": size, "newBatchThreshold": threshold}
    async with world(noop=True, rtt=rtt, queues=queues) as stack, Raw(stack.storage) as client:
        body = message(f"{stack.running.receiver_url}/hooks/bench")
        for _ in range(_WARM):
            await client.put("jobs", body)
        await stack.wait_for_webhooks(_WARM)
        spent, start = cpu(stack.worker), time.perf_counter()
        async with _Peak(stack.worker) as peak:
            end = await feed(stack, client, body, number)
        processor = (cpu(stack.worker) - spent) * 1000 / number
        return Row(f"queue, {size} + {threshold}", number / (end - start), processor, peak.mib)


async def callers(at_once: int, number: int, rtt: float) -> Row:
    """Submissions by HTTP, so many at once, each on a connection of its own."""
    async with (
        world(noop=True, rtt=rtt) as stack,
        aiohttp.ClientSession(stack.running.host_url, connector=aiohttp.TCPConnector(limit=0)) as http,
    ):
        await asyncio.gather(*(_submit(http) for _ in range(_WARM)))
        times: list[float] = []
        numbers = iter(range(number))
        spent, start = cpu(stack.worker), time.perf_counter()
        async with _Peak(stack.worker) as peak:
            await asyncio.gather(*(_one_caller(http, numbers, times) for _ in range(at_once)))
        took = time.perf_counter() - start
        processor = (cpu(stack.worker) - spent) * 1000 / number
        name = f"HTTP, {at_once} callers"
        return Row(name, number / took, processor, peak.mib, statistics.median(times), max(times))


async def _one_caller(http: aiohttp.ClientSession, numbers: Iterator[int], times: list[float]) -> None:
    for _ in numbers:
        start = time.perf_counter()
        await _submit(http)
        times.append((time.perf_counter() - start) * 1000)


async def _submit(http: aiohttp.ClientSession) -> None:
    async with http.post("/api/jobs", data=json.dumps({"spec": SPEC}).encode()) as answer:
        if answer.status >= 300:
            raise RuntimeError(f"{answer.status}: {(await answer.text())[:300]}")


class _Peak:
    """The most memory that a process has while the block runs, looked at fifty times a second."""

    def __init__(self, process: psutil.Process) -> None:
        self._process, self.mib = process, 0.0

    async def __aenter__(self) -> _Peak:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        self._sample()

    async def _watch(self) -> None:
        while True:
            self._sample()
            await asyncio.sleep(_PAUSE)

    def _sample(self) -> None:
        self.mib = max(self.mib, self._process.memory_info().rss / 2**20)


def main() -> None:
    """Measure every setting in each round, and print the medians."""
    parser = argparse.ArgumentParser(prog="python -m bench.worker.concurrency", description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rtt", type=float, default=5.0, help="milliseconds before the storage")
    options = parser.parse_args()
    rounds = [asyncio.run(_round(options.jobs, options.rtt)) for _ in range(options.rounds)]
    sys.stdout.write(
        "| | jobs/s | worker ms a job | worker MiB | call p50, max ms |\n|---|---|---|---|---|\n"
    )
    for rows in zip(*rounds, strict=True):
        middle = [statistics.median(column) for column in zip(*(row[1:] for row in rows), strict=True)]
        call = f"{middle[3]:.0f}, {middle[4]:.0f}" if middle[4] else ""
        sys.stdout.write(
            f"| {rows[0].name} | {middle[0]:.0f} | {middle[1]:.1f} | {middle[2]:.0f} | {call} |\n"
        )


async def _round(number: int, rtt: float) -> list[Row]:
    results = []
    for size, threshold in BATCHES:
        results.append(await batch(size, threshold, number, rtt))
    for at_once in CALLERS:
        results.append(await callers(at_once, number, rtt))
    for row in results:
        sys.stderr.write(f"{row}\n")
    return results


if __name__ == "__main__":
    main()
