"""Lists of jobs over the table service: what a page costs, counted at a wire that answers as it does."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shared.adapters.storage import rows
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.lists import listed
from shared.adapters.storage.lists.listing import BOUNDS, Bounds
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.wire.connection import Account, Connection
from shared.adapters.storage.wire.rest import Answer, Request
from shared.adapters.storage.wire.resttable import RestTable
from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.identity import job_id
from shared.core.job import Entry, Job, JobState
from shared.core.ledger.listing import Label, Query

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
SHARDS, FINISHED, ACTIVE = 4, 60_000, 40
#: Rows of a search, and bytes of a search or a page, by which storage may answer one request.
MOST_ROWS, MOST_BYTES = BOUNDS.rows + SHARDS * 50, 1_000 * (BOUNDS.rows + SHARDS * 50)
#: Rows that the service looks at for one answer.
_OF_STORAGE = {"x-ms-request-id": "r"}
_PAGE = 1_000
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoMGMw=="
_ACCOUNT = Connection(f"AccountName=acct;AccountKey={_KEY};TableEndpoint=http://h/acct")
_FILTER = re.compile(
    r"PartitionKey eq '(?P<partition>\w+)' and RowKey ge '(?P<first>[^']*)' and RowKey lt '(?P<last>[^']*)'"
)


def members_of(number: int) -> dict[str, Any]:
    """What distinguishes the n-th newest job: the first ones have not ended."""
    ended = "failed" if number % 100 == 7 else "succeeded"
    return {
        "door": "drop" if number % 2 else "queue",
        "name": f"train-{number}",
        "experiment": "rare" if number % 1000 == 3 else "vision",
        "cluster": "old" if number % 500 == 7 else "dev",
        "labels": {"team": "vision"} if number % 5000 == 11 else {},
        "state": "running" if number < ACTIVE else ended,
    }


def job_of(number: int) -> Job:
    created = NOW - timedelta(seconds=number)
    entry = Entry(sequence=1, state=JobState(members_of(number)["state"]), at=created, token="t")
    return Job(
        id=job_id(str(number), 1),
        key="k",
        payload="p",
        created=created,
        due=created,
        history=(entry,),
        **members_of(number),
    )


class Wire:
    """A table service that holds the jobs: what of a row is not its key is made when it is asked for."""

    def __init__(self, finished: int = FINISHED) -> None:
        self.ranges = self.rows = self.bytes = 0
        self.records = 0
        #: the source of some jobs; the others have none
        self.sources: dict[int, str] = {}
        self.keys: dict[str, list[str]] = defaultdict(list)
        self.numbers: dict[str, int] = {}
        for number in range(finished + ACTIVE):
            self._add(number)
        for partition in self.keys.values():
            partition.sort()

    def _add(self, number: int) -> None:
        identity = job_id(str(number), 1)
        partition = rows.partition(rows.shard_of(identity, SHARDS))
        place = f"{rows.listed(NOW - timedelta(seconds=number))}|{identity}"
        self.numbers[identity] = number
        keys = [f"l|{place}"]
        if number < ACTIVE:
            keys.append(f"n|{identity}")
        else:
            keys += [f"{group}{place}" for group in self._groups(members_of(number))]
        self.keys[partition] += keys

    @staticmethod
    def _groups(job: dict[str, Any]) -> tuple[str, ...]:
        names = listed.by_experiment(job["experiment"]), listed.by_cluster(job["cluster"])
        return listed.by_state(job["state"]), *names, listed.BY_END

    async def send(self, request: Request) -> Answer:
        """Answers the table service's queries."""
        split = urlsplit(request.url)
        if "RowKey=" in split.path:
            self.records += 1
            return Answer(404, _OF_STORAGE, b"")
        query = dict(parse_qsl(split.query))
        match = _FILTER.fullmatch(query["$filter"])
        assert match is not None, query
        if match["partition"] == "meta":
            layout = {"RowKey": "layout", "Version": 3, "Shards": SHARDS}
            return Answer(200, _OF_STORAGE, json.dumps({"value": [layout]}).encode())
        self.ranges += 1
        keys = self.keys[match["partition"]]
        first = bisect_left(keys, query.get("NextRowKey", match["first"]))
        last = bisect_left(keys, match["last"])
        until = min(last, first + min(_PAGE, int(query.get("$top", _PAGE))))
        more = {"x-ms-continuation-nextpartitionkey": match["partition"]}
        more |= {"x-ms-continuation-nextrowkey": keys[until]} if until < last else {}
        body = json.dumps(
            {"value": [self._row(match["partition"], key) for key in keys[first:until]]}
        ).encode()
        self.rows, self.bytes = self.rows + until - first, self.bytes + len(body)
        return Answer(200, _OF_STORAGE | (more if until < last else {}), body)

    def _row(self, partition: str, key: str) -> dict[str, Any]:
        number = self.numbers[key.rpartition("|")[2]]
        row = {"PartitionKey": partition, "RowKey": key, "Timestamp": "2026-01-01T00:00:00Z"}
        if key.startswith("n|"):
            return {**rows.active_row(job_of(number), SHARDS), **row}
        return {**row, "Source": "", "Shown0": self._shown(number, key), "Shown1": ""}

    def _shown(self, number: int, key: str) -> str:
        text = shown(number, key.rpartition("|")[2])
        source = self.sources.get(number)
        return json.dumps({**json.loads(text), "source": source}) if source else text


def shown(number: int, identity: str) -> str:
    """What the row of a job holds: as `listed_rows` makes it, without the model's time for so many."""
    job, at = members_of(number), (NOW - timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "id": identity,
            "key": "",
            "payload": "",
            **job,
            "created": at,
            "due": at,
            "history": [{"sequence": 1, "state": job["state"], "at": at, "token": ""}],
        }
    )


@pytest.fixture(scope="module")
def full() -> Wire:
    return Wire()


@pytest.fixture
async def wire(full: Wire) -> Wire:
    full.ranges = full.records = full.rows = full.bytes = 0
    full.sources = {}
    return full


async def ledger_over(wire: Wire, bounds: Bounds = BOUNDS) -> TableLedger:
    account = Account(_ACCOUNT, around=lambda _: wire.send)
    return TableLedger(ShardedTable(RestTable(account, "t"), SHARDS), bounds)


@pytest.fixture
async def ledger(wire: Wire) -> TableLedger:
    return await ledger_over(wire)


def numbers(wire: Wire, jobs: Sequence[Job]) -> list[int]:
    return [wire.numbers[job.id] for job in jobs]


def test_the_wire_holds_what_the_ledger_writes() -> None:
    (row,) = listed.listed_rows(job_of(7), SHARDS)
    assert row["RowKey"] == f"l|{rows.listing_key(job_of(7))}"
    assert listed.shown_of(row) == Job.model_validate_json(shown(7, job_of(7).id))
    for number in (43, 107, 1003):
        job = job_of(number)
        written = {row["RowKey"]: row for row in listed.listed_rows(job, SHARDS)}
        place = rows.listing_key(job)
        assert set(written) == {f"{group}{place}" for group in ("l|", *Wire._groups(members_of(number)))}
        for row in written.values():
            assert listed.shown_of(row) == Job.model_validate_json(shown(number, job.id))


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "newest"),
    [
        (Query(states=frozenset({JobState.FAILED})), range(107, 5107, 100)),
        (Query(states=frozenset({JobState.SUCCEEDED})), [n for n in range(40, 92) if n % 100 != 7][:50]),
        (Query(states=frozenset({JobState.RUNNING})), range(40)),
        (Query(states=frozenset({JobState.FAILED}), since=NOW - timedelta(seconds=207)), [107, 207]),
        (Query(), range(50)),
        (Query(since=NOW - timedelta(seconds=45)), range(46)),
        (
            Query(since=NOW - timedelta(seconds=9_045), until=NOW - timedelta(seconds=9_000)),
            range(9_001, 9_046),
        ),
        (Query(until=NOW - timedelta(seconds=30_000)), range(30_001, 30_051)),
        (Query(by_end=True), range(40, 90)),
        (Query(by_end=True, until=NOW - timedelta(seconds=100)), range(101, 151)),
    ],
    ids=[
        "failed",
        "succeeded",
        "running",
        "failed since",
        "all",
        "since",
        "a time",
        "until",
        "ends",
        "ended",
    ],
)
async def test_a_page_costs_a_range_a_shard_and_one_request(
    wire: Wire, ledger: TableLedger, query: Query, newest: Sequence[int]
) -> None:
    page = await ledger.find(query, limit=50, after=None)

    assert numbers(wire, page.jobs) == list(newest)
    assert wire.ranges <= SHARDS + 1
    assert wire.records == 0
    assert not page.cut


@pytest.mark.parametrize(
    ("query", "newest"),
    [
        (Query(experiment="rare"), range(3, 50_003, 1000)),
        (Query(cluster="old"), range(7, 25_007, 500)),
        (Query(cluster="dev"), [n for n in range(60) if n % 500 != 7][:50]),
        (Query(experiment="no such"), []),
    ],
    ids=["experiment", "cluster", "most of all", "none"],
)
async def test_a_page_by_experiment_or_cluster_costs_two_ranges_a_shard(
    wire: Wire, ledger: TableLedger, query: Query, newest: Sequence[int]
) -> None:
    page = await ledger.find(query, limit=50, after=None)

    assert numbers(wire, page.jobs) == list(newest)
    assert wire.ranges <= 2 * SHARDS
    assert wire.records == 0
    assert not page.cut


async def test_every_page_costs_the_same_and_together_they_have_each_job_once(
    wire: Wire, ledger: TableLedger
) -> None:
    results: list[Job] = []
    after = None
    while True:
        wire.ranges = 0
        page = await ledger.find(Query(states=frozenset({JobState.FAILED})), limit=200, after=after)
        assert wire.ranges <= SHARDS + 1
        results += page.jobs
        after = page.next
        if after is None:
            break
    assert numbers(wire, results) == list(range(107, FINISHED + ACTIVE, 100))


@pytest.mark.long
async def test_what_is_looked_for_costs_so_much_a_request_and_goes_on_where_it_stopped(wire: Wire) -> None:
    ledger = await ledger_over(wire, Bounds(pages=16))
    query = Query(label=Label("team", "vision"), since=NOW - timedelta(seconds=20_000))
    results: list[Job] = []
    after, requests = None, 0
    while requests == 0 or after is not None:
        wire.ranges = 0
        page = await ledger.find(query, limit=50, after=after)
        assert wire.ranges <= 16
        assert page.cut == (page.next is not None)
        assert page.next is None or after is None or page.next > after
        results, after, requests = [*results, *page.jobs], page.next, requests + 1

    assert numbers(wire, results) == list(range(11, 20_000, 5000))
    assert requests > 1
    assert wire.records == 0


async def test_a_search_reads_as_many_pages_as_a_request_may(wire: Wire) -> None:
    ledger = await ledger_over(wire, Bounds(rows=10**9, seconds=600.0))

    page = await ledger.find(Query(name="none"), limit=5, after=None)

    # It keeps one for the index rows of each shard, which this search does not need.
    assert (page.cut, wire.ranges) == (True, 64 - SHARDS)


@pytest.mark.long
async def test_where_a_search_goes_on_names_no_job_that_the_caller_may_not_see(wire: Wire) -> None:
    ledger = await ledger_over(wire, Bounds(pages=4 * SHARDS))
    query = Query(label=Label("team", "vision"), seen_by=Caller("ann", frozenset({SUBMIT})))
    after: str | None = None
    for _ in range(3):
        page = await ledger.find(query, limit=50, after=after)
        assert page.cut
        assert page.next is not None
        assert page.next > (after or "")
        assert page.next.partition("|")[2] not in wire.numbers
        everything = await ledger.find(replace(query, seen_by=None), limit=50, after=after)
        assert everything.next is not None
        assert everything.next.partition("|")[2] in wire.numbers
        own = await ledger.find(Query(), limit=1, after=page.next)
        assert numbers(wire, own.jobs) == [wire.numbers[everything.next.partition("|")[2]] + 1]
        after = page.next
        beside = wire.numbers[everything.next.partition("|")[2]] + 1
        wire.sources = {beside: "http:ann"}
        visible = await ledger.find(replace(query, label=None), limit=1, after=after)
        assert numbers(wire, visible.jobs) == [beside]
        wire.sources = {}


@pytest.mark.parametrize(
    ("query", "result"),
    [
        (
            Query(experiment="rare", doors=frozenset({"drop"}), name="train-5*"),
            [5003, *range(50_003, 60_003, 1000)],
        ),
        (Query(states=frozenset({JobState.FAILED}), cluster="old", name="train-1507"), [1507]),
        (
            Query(
                states=frozenset({JobState.FAILED, JobState.RUNNING}),
                name="train-*7",
                label=Label("team", None),
            ),
            [],
        ),
    ],
)
async def test_conditions_together_are_looked_for_in_the_narrowest_range(
    wire: Wire, ledger: TableLedger, query: Query, result: Sequence[int]
) -> None:
    page = await ledger.find(query, limit=50, after=None)
    assert numbers(wire, page.jobs) == list(result)
    assert wire.ranges <= 4 * SHARDS


async def test_a_search_stops_when_its_time_is_over_and_has_looked_at_some(wire: Wire) -> None:
    ledger = await ledger_over(wire, Bounds(seconds=-1.0))
    first = await ledger.find(Query(name="none"), limit=50, after=None)
    second = await ledger.find(Query(name="none"), limit=50, after=first.next)
    assert (first.jobs, first.cut, second.cut) == ((), True, True)
    assert first.next is not None
    assert second.next is not None
    assert second.next > first.next
    assert wire.ranges == 2 * SHARDS


async def test_a_search_with_many_finds_reads_no_more_than_its_page_takes(
    wire: Wire, ledger: TableLedger
) -> None:
    page = await ledger.find(Query(doors=frozenset({"queue"})), limit=50, after=None)
    assert numbers(wire, page.jobs) == list(range(0, 100, 2))
    assert wire.ranges <= 2 * SHARDS


#: Searches that have no range of their own, and what they find at the latest; nothing in the last two.
SEARCHES = {
    "label": Query(label=Label("team", "vision")),
    "door": Query(doors=frozenset({"inventory"})),
    "owner": Query(owner="http:ann"),
    "team": Query(team="vision"),
    "seen by one": Query(seen_by=Caller("ann", frozenset({SUBMIT}))),
    "name": Query(name="none"),
    "words": Query(contains="no such words"),
    "failed, by an error": Query(states=frozenset({JobState.FAILED}), error="no such error"),
    "failed, of an experiment": Query(states=frozenset({JobState.FAILED}), experiment="rare", name="x"),
    "by their ends": Query(by_end=True, name="none"),
}


@pytest.mark.parametrize("query", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("finished", [2_000, 20_000])
async def test_a_request_of_a_search_reads_no_more_in_a_long_history(query: Query, finished: int) -> None:
    wire = Wire(finished)
    ledger = await ledger_over(wire, BOUNDS._replace(seconds=600.0))
    results, after, requests = list[Job](), None, 0
    while requests == 0 or after is not None:
        wire.ranges = wire.rows = wire.bytes = 0
        page = await ledger.find(query, limit=50, after=after)
        assert wire.ranges <= 6 * SHARDS
        assert (wire.rows <= MOST_ROWS, wire.bytes <= MOST_BYTES) == (True, True)
        if page.searched_to is not None:
            # All that is younger has been looked at, and the next page begins there.
            assert all(job.created >= page.searched_to for job in page.jobs)
            assert page.next is not None
            assert page.next.startswith(rows.listed(page.searched_to))
        results, after, requests = [*results, *page.jobs], page.next, requests + 1

    matching = [number for number in range(finished + ACTIVE) if query.fits(job_of(number))]
    assert numbers(wire, results) == matching
    assert requests <= 1 + finished // (BOUNDS.rows // 2)


async def test_a_search_with_a_large_page_is_bounded_as_well(wire: Wire) -> None:
    ledger = await ledger_over(wire, BOUNDS._replace(seconds=600.0))

    page = await ledger.find(Query(name="none"), limit=200, after=None)

    assert page.cut
    assert wire.rows <= MOST_ROWS


@pytest.mark.parametrize("after", ["", "x", "9' or RowKey ge '", "000000000000000|j_x|l"])
async def test_a_place_that_is_none_is_refused(ledger: TableLedger, after: str) -> None:
    with pytest.raises(Misuse, match="`next`"):
        await ledger.find(Query(), limit=1, after=after)
