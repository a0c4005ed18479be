"""A pass of one process over very many active jobs: memory and processor time for each of them.

`python -m bench.cost.many --active 100000`. The service's pages are made when they are asked for, and
forgotten when they are read, so the memory is that of the pass. Making them is not counted, reading them is.
Nothing has changed since the pass before; the cluster answers from memory.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import psutil
from pydantic_core import from_json, to_json

from bench.passes import queued_job
from shared.adapters.storage import rows
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import ETAG, Range, Row
from shared.core.engine import Observation
from shared.core.job import JobState, Target
from tests.doubles.memory import MemoryTable
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World

_SHARDS, _PAGE = 4, 1_000
_QUEUED = Observation(JobState.QUEUED)
_ETAG = "W/\"datetime'2026-01-01T00%3A00%3A00.0000000Z'\""


class _Service(MemoryTable):
    """A table with the index rows of so many jobs, which it does not keep. `busy`: seconds for that."""

    def __init__(self, world: World, active: int) -> None:
        super().__init__(world.clock)
        self.busy = 0.0
        self.pages = 0
        self._jobs: dict[str, list[int]] = {rows.partition(shard): [] for shard in range(_SHARDS)}
        for number in range(active):
            shard = rows.shard_of(queued_job(number).id, _SHARDS)
            self._jobs[rows.partition(shard)].append(number)

    async def rows(self, key_range: Range) -> list[Row]:
        """Those of active jobs, page by page as they come from the service; all others as they are kept."""
        if not key_range.first.startswith("n|") or key_range.partition not in self._jobs:
            return await super().rows(key_range)
        numbers = self._jobs[key_range.partition]
        read: list[Row] = []
        for at in range(0, max(1, len(numbers)), _PAGE):
            page = from_json(self._page(numbers[at : at + _PAGE]))["value"]
            for row in page:
                row[ETAG] = _ETAG
            read += page
            self.pages += 1
            await asyncio.sleep(0)
        return read

    def _page(self, numbers: Sequence[int]) -> bytes:
        start = time.process_time()
        body = to_json({"value": [rows.active_row(queued_job(number), _SHARDS) for number in numbers]})
        self.busy += time.process_time() - start
        return body


class _Engine(MemoryEngine):
    """A cluster on which nothing changes."""

    async def status(self, cluster: str, targets: Sequence[Target]) -> Mapping[str, Observation]:
        return {target.name: _QUEUED for target in targets}


class Many(NamedTuple):
    """For each job: microseconds of a pass, and bytes while it runs; bytes that stay; pages of all shards."""

    microseconds: float
    most_bytes: float
    kept_bytes: float
    pages: int


async def measure(active: int, passes: int = 3) -> Many:
    """The best of some passes after the first, and the most memory of all of them."""
    world = World()
    service = _Service(world, active)
    store = ShardedTable(service, _SHARDS)
    world.use(engines=Engines(_Engine()), ledger=TableLedger(store), outbox=TableOutbox(store))
    await world.ports.ledger.paused()  # opens the table
    gc.collect()
    process, spent = psutil.Process(), list[float]()
    before = process.memory_info().rss
    watch = _Watch(process)
    watching = asyncio.create_task(watch.watch())
    for _ in range(passes + 1):
        service.busy, service.pages, start = 0.0, 0, time.process_time()
        counts = await world.make_pass()
        spent.append(time.process_time() - start - service.busy)
        assert (counts.active, counts.changed) == (active, 0)
        world.pass_time(60)
    watching.cancel()
    watch.note()
    gc.collect()
    rest = process.memory_info().rss - before
    return Many(min(spent[1:]) / active * 1e6, (watch.most - before) / active, rest / active, service.pages)


class _Watch:
    """The most memory that the process has had, as often as its loop lets it look."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self.most = 0

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            self.note()
            await asyncio.sleep(0.005)

    def note(self) -> None:
        """Look once."""
        self.most = max(self.most, self._process.memory_info().rss)


def main(arguments: list[str] | None = None) -> None:
    """Print what a pass takes."""
    parser = argparse.ArgumentParser(prog="python -m bench.cost.many", description=__doc__)
    parser.add_argument("--active", type=int, default=100_000)
    options = parser.parse_args(arguments)
    logging.disable()
    many = asyncio.run(measure(options.active))
    seconds, most = many.microseconds * options.active / 1e6, many.most_bytes * options.active / 2**20
    sys.stdout.write(
        f"{options.active:,} active jobs: a pass takes {many.microseconds:.0f} µs a job, {seconds:.1f} s in "
        f"all, reads {many.pages} pages, and needs {many.most_bytes / 1024:.1f} KiB a job, {most:.0f} MiB in "
        f"all; the process keeps {many.kept_bytes / 1024:.1f} KiB a job for the next one\n"
    )


if __name__ == "__main__":
    main()
