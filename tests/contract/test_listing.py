"""Lists of jobs over the real table service, with its pages: what they have, and what they cost."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from local.azurite import Azurite
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Answer, Request, Send
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.job import Entry, JobState
from shared.core.ledger.listing import Query
from shared.core.relations.contents import Member
from tests.contract.test_ledger import NOW, make

#: More than the service has in one answer of one shard.
SHARDS, JOBS = 2, 2_400
SWEEP = "s_" + "a" * 24
#: Of the newest, those with these numbers run.
RUNNING = range(0, 60, 2)


class Requests:
    """Those to the table service, by what they ask."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.records = 0

    def count_requests(self, send: Send) -> Send:

        async def counted(request: Request) -> Answer:
            if request.verb == "GET" and "filter" in request.url:
                self.queries.append(request.url)
            elif request.verb == "GET":
                self.records += 1
            return await send(request)

        return counted


@pytest.fixture(scope="module")
def table(storage: Azurite) -> str:
    """The name of a table with all jobs."""
    name = f"t{uuid.uuid4().hex[:20]}"
    jobs = [
        make(
            f"k{n}",
            name=f"n{n}",
            state=_state(n),
            experiment="a/b\\c#d?'ü|" if n % 60 == 3 else "e",
            created=NOW - timedelta(seconds=n),
            history=(Entry(sequence=1, state=_state(n), at=NOW - timedelta(seconds=n), token=f"t{n}"),),
            sweep=Member(id=SWEEP, index=n // 60, parallel=2, values={"lr": n}) if n % 60 == 5 else None,
        )
        for n in range(JOBS)
    ]

    async def fill() -> None:
        async with _ledger(storage, name, Requests()) as ledger:
            for at in range(0, JOBS, 400):
                await asyncio.gather(*(ledger.create(job, None, None) for job in jobs[at : at + 400]))

    asyncio.run(fill())
    return name


def _state(number: int) -> JobState:
    if number in RUNNING:
        return JobState.RUNNING
    return JobState.FAILED if number % 40 == 7 else JobState.SUCCEEDED


@asynccontextmanager
async def _ledger(storage: Azurite, name: str, requests: Requests) -> AsyncIterator[TableLedger]:
    account = Account(Connection(storage.connection_string), around=requests.count_requests)
    yield TableLedger(ShardedTable(RestTable(account, name), SHARDS))
    await account.close()


@pytest.fixture
async def filled(storage: Azurite, table: str) -> AsyncIterator[tuple[TableLedger, Requests]]:
    requests = Requests()
    async with _ledger(storage, table, requests) as ledger:
        await ledger.paused()  # opened: that costs once a process
        requests.queries.clear()
        requests.records = 0
        yield ledger, requests


@pytest.mark.parametrize(
    ("query", "names", "bound"),
    [
        (Query(), range(50), SHARDS + 1),
        (Query(states=frozenset({JobState.FAILED})), range(7, 2007, 40), SHARDS + 1),
        (Query(states=frozenset({JobState.RUNNING})), RUNNING, SHARDS + 1),
        (Query(since=NOW - timedelta(seconds=9)), range(10), SHARDS + 1),
        (Query(until=NOW - timedelta(seconds=99)), range(100, 150), SHARDS + 1),
        (Query(by_end=True), [*range(1, 60, 2), *range(60, 80)], SHARDS + 1),
        (Query(experiment="a/b\\c#d?'ü|"), range(3, JOBS, 60), 2 * SHARDS),
        (Query(sweep=SWEEP), range(5, JOBS, 60), 2 * SHARDS),
        (Query(cluster="dev"), range(50), 2 * SHARDS),
        # 50, 200, 800 and 1,000 rows a shard, or those that there are.
        (Query(name="n2399"), [2399], 4 * SHARDS),
    ],
    ids=["all", "state", "active", "since", "until", "ended", "experiment", "sweep", "cluster", "name"],
)
async def test_a_page_has_the_newest_and_costs_no_record(
    filled: tuple[TableLedger, Requests], query: Query, names: range | list[int], bound: int
) -> None:
    ledger, requests = filled
    page = await ledger.find(query, limit=50, after=None)

    assert [job.name for job in page.jobs] == [f"n{n}" for n in names]
    assert [job.state for job in page.jobs] == [_state(n) for n in names]
    assert len(requests.queries) <= bound
    assert requests.records == 0


async def test_pages_of_all_have_each_job_once(filled: tuple[TableLedger, Requests]) -> None:
    ledger, _ = filled
    results: list[str] = []
    page = await ledger.find(Query(), limit=200, after=None)
    results += [job.name for job in page.jobs]
    while page.next is not None:
        page = await ledger.find(Query(), limit=200, after=page.next)
        results += [job.name for job in page.jobs]
    assert results == [f"n{n}" for n in range(JOBS)]


async def test_what_has_ended_lately_costs_a_range_a_shard_of_some_columns(
    filled: tuple[TableLedger, Requests],
) -> None:
    ledger, requests = filled
    ended = await ledger.ended(NOW - timedelta(seconds=899), 2_000)

    assert sorted(int(one.name[1:]) for one in ended.jobs) == [n for n in range(900) if n not in RUNNING]
    assert all(one.state is _state(int(one.name[1:])) for one in ended.jobs)
    assert len(requests.queries) == SHARDS
    assert all("Shown" not in url and "select=" in url for url in requests.queries)
    assert requests.records == 0
