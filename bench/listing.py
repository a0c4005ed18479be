"""Pages of lists of jobs, against the bare range queries of their rows, in one process by turns."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from bench.seeking import seeking
from shared.adapters.storage import rows
from shared.adapters.storage.layout import LAYOUT
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists import listed
from shared.adapters.storage.lists.listing import BOUNDS
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Row
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState, Target
from shared.core.ledger.listing import Query

SHARDS, PAGE, TURNS = 4, 50, 15
#: Jobs that run: every second one of the newest, so that the first page has half of them, from all shards.
RUNNING = 100
_ROWS = 100
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
#: Index rows of jobs that have not ended: first, since one that ends meanwhile is found in the other range.
_ACTIVE = "n|"
#: What is asked, and how the keys of the rows begin that have it, in the order in which they have to be read.
_LISTS = {
    "all": (Query(), (listed.EVERY,)),
    "since": (Query(since=_NOW - timedelta(days=30)), (listed.EVERY,)),
    "state": (Query(states=frozenset({JobState.FAILED})), (listed.by_state("failed"),)),
    "running": (Query(states=frozenset({JobState.RUNNING})), (_ACTIVE,)),
    "experiment": (Query(experiment="vision-7"), (_ACTIVE, listed.by_experiment("vision-7"))),
    "cluster": (Query(cluster="dev"), (_ACTIVE, listed.by_cluster("dev"))),
}


async def pages(storage: str, finished: int) -> dict[str, float]:
    """Pages over a table of Azurite, with jobs that have ended."""
    return await _pages(storage, "list", partial(_fill, finished=finished))


async def long_pages(finished: int, rtt: float) -> dict[str, float]:
    """The same over a table that seeks: with this many rows, a page of Azurite would take minutes."""
    layout = {**LAYOUT, "Shards": SHARDS, "Version": 3}
    every = (row for shard in range(SHARDS) for row in _rows(shard, finished + RUNNING))
    async with seeking((layout, *every), rtt) as storage:
        return await _pages(storage, "long list", _filled)


async def _filled(_: RestTable) -> None:
    """The ledger has all its rows: the measurement may begin."""


async def _pages(storage: str, kind: str, fill: Callable[[RestTable], Awaitable[None]]) -> dict[str, float]:
    """Median milliseconds of a page of each list, and of the same ranges by the table alone."""
    account = Account(Connection(storage))
    try:
        table = RestTable(account, f"list{uuid.uuid4().hex[:12]}")
        ledger = TableLedger(ShardedTable(table, SHARDS))
        await ledger.active(0)  # the table is made
        await fill(table)
        figures: dict[str, float] = {}
        for name, (query, ranges) in _LISTS.items():
            ours, bare = await _by_turns(partial(_page, ledger, query), partial(_bare, table, ranges))
            figures |= {f"{kind} {name} ms": ours, f"{kind} {name} bare ms": bare}
        ours, bare = await _by_turns(partial(_search, ledger), partial(_newest, table))
        return {**figures, f"{kind} search ms": ours, f"{kind} search bare ms": bare}
    finally:
        await account.close()


async def _page(ledger: TableLedger, query: Query) -> None:
    page = await ledger.find(query, limit=PAGE, after=None)
    assert len(page.jobs) == PAGE


async def _bare(table: RestTable, ranges: Sequence[str]) -> None:
    for prefix in ranges:
        partitions = (Range(rows.partition(n), prefix, f"{prefix[:-1]}}}", limit=PAGE) for n in range(SHARDS))
        answers = await asyncio.gather(*(table.rows(one) for one in partitions))
    assert sum(map(len, answers)) >= PAGE


async def _search(ledger: TableLedger) -> None:
    page = await ledger.find(Query(name="no such"), limit=PAGE, after=None)
    assert not page.jobs


async def _newest(table: RestTable) -> None:
    """As many rows as a search reads, in the fewest queries: what it would cost without any of ours."""
    most = BOUNDS.rows // SHARDS
    await asyncio.gather(
        *(table.rows(Range(rows.partition(n), listed.EVERY, "l}", limit=most)) for n in range(SHARDS))
    )


async def _by_turns(*ask: Callable[[], Awaitable[None]]) -> list[float]:
    """The median of each in milliseconds."""
    spent: list[list[float]] = [[] for _ in ask]
    gc.collect()
    for _ in range(TURNS):
        for one, times in zip(ask, spent, strict=True):
            before = time.perf_counter()
            await one()
            times.append((time.perf_counter() - before) * 1e3)
    return [statistics.median(times[1:]) for times in spent]  # the first one opens connections


async def _fill(table: RestTable, finished: int) -> None:
    """The rows by which lists show jobs that have ended, and those that run."""

    async def write(shard: int) -> None:
        operations: list[Operation] = []
        for row in _rows(shard, finished + RUNNING):
            operations.append(Operation("upsert", row))
            if len(operations) == _ROWS:
                await table.transact(operations)
                operations = []
        if operations:
            await table.transact(operations)

    await asyncio.gather(*(write(shard) for shard in range(SHARDS)))


def _rows(shard: int, jobs: int) -> Iterator[Row]:
    for number in range(jobs):
        if rows.shard_of(job_id(str(number), 1), SHARDS) == shard:
            job = _job(number)
            yield from listed.listed_rows(job, SHARDS)
            if not job.state.terminal:
                yield rows.active_row(job, SHARDS)


def _job(number: int) -> Job:
    state = JobState.FAILED if number % 10 == 3 else JobState.SUCCEEDED
    state = JobState.RUNNING if number < 2 * RUNNING and number % 2 == 0 else state
    created = _NOW - timedelta(seconds=number)
    identity = job_id(str(number), 1)
    entry = Entry(sequence=4, state=state, at=created, token=f"t{number}")
    return Job(
        id=identity,
        key=str(number),
        payload="p",
        door="queue",
        name=f"train-{number}",
        experiment=f"vision-{number % 20}",
        cluster="dev",
        labels={"team": "vision"},
        state=state,
        message="Job failed with non-zero exit code" if state is JobState.FAILED else "",
        exit_code=int(state is JobState.FAILED),
        created=created,
        due=created,
        started=created,
        ended=created if state.terminal else None,
        target=Target(engine="batchai", cluster="dev", experiment="e", name=f"n{number}", token="t"),  # noqa: S106
        history=(entry,),
    )
