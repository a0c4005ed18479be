"""Group commit: who shares a transaction, and what happens when one is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from shared.adapters.storage.group import GroupCommit, Write
from shared.adapters.storage.table import Operation, Refused
from shared.core.errors import Misuse, Unavailable
from tests.doubles.memory import MemoryTable


class Watched(MemoryTable):
    """A table that keeps what each transaction held, and answers when the test lets it."""

    def __init__(self) -> None:
        super().__init__(lambda: datetime(2026, 1, 1, tzinfo=UTC))
        self.transactions: list[list[str]] = []
        self.go = asyncio.Event()
        self.go.set()
        self.fail: list[Exception] = []

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        self.transactions.append([operation.row["RowKey"] for operation in operations])
        await self.go.wait()
        if self.fail:
            raise self.fail.pop(0)
        return await super().transact(operations)


def new(job: str, *, rows: int = 1, partition: str = "s0", size: int = 1) -> Write:
    row = {"PartitionKey": partition, "Text": "x" * size}
    return Write(job, tuple(Operation("create", row | {"RowKey": f"{job}{n}"}) for n in range(rows)))


@pytest.fixture
async def table() -> Watched:
    return Watched()


@pytest.fixture
async def group(table: Watched) -> GroupCommit:
    return GroupCommit(table, linger=0)


async def test_writes_that_come_together_share_a_transaction(table: Watched, group: GroupCommit) -> None:
    etags = await asyncio.gather(*(group.write(new(f"job{n}", rows=2)) for n in range(10)))
    assert [len(messages) for messages in table.transactions] == [20]
    assert len({etag for pair in etags for etag in pair}) == 20


async def test_a_partition_has_one_transaction_on_its_way_and_the_rest_gathers(
    table: Watched, group: GroupCommit
) -> None:
    table.go.clear()
    first = asyncio.create_task(group.write(new("first")))
    await asyncio.sleep(0.01)
    others = [asyncio.create_task(group.write(new(f"job{n}"))) for n in range(5)]
    elsewhere = asyncio.create_task(group.write(new("elsewhere", partition="s1")))
    await asyncio.sleep(0.01)
    assert table.transactions == [["first0"], ["elsewhere0"]]

    table.go.set()
    await asyncio.gather(first, elsewhere, *others)

    assert [len(messages) for messages in table.transactions] == [1, 1, 5]


async def test_two_writes_of_one_job_never_share_a_transaction(table: Watched, group: GroupCommit) -> None:
    again = Write("job", (Operation("upsert", {"PartitionKey": "s0", "RowKey": "job0"}),))
    await asyncio.gather(group.write(new("job")), group.write(again), group.write(new("other")))
    assert sorted(map(len, table.transactions)) == [1, 2]


async def test_a_transaction_holds_a_hundred_entities_and_four_megabytes(
    table: Watched, group: GroupCommit
) -> None:
    await asyncio.gather(*(group.write(new(f"job{n:02}", rows=3)) for n in range(40)))
    await asyncio.gather(*(group.write(new(f"big{n}", size=30_000, rows=30)) for n in range(8)))
    assert [len(messages) for messages in table.transactions] == [
        99,
        21,
        90,
        90,
        60,
    ]  # 4 of 0.92 MB would be 3.7 MB: 120 rows


async def test_one_conflict_spoils_no_other_write(table: Watched, group: GroupCommit) -> None:
    await group.write(new("job3"))

    outcomes = await asyncio.gather(*(group.write(new(f"job{n}")) for n in range(6)), return_exceptions=True)

    assert [isinstance(outcome, Refused) for outcome in outcomes] == [n == 3 for n in range(6)]
    assert len(table.held) == 6


async def test_a_write_that_is_too_large_spoils_no_other(table: Watched, group: GroupCommit) -> None:
    sizes = [1, 1, 1_100_000, 1]

    writes = (group.write(new(f"job{n}", size=size)) for n, size in enumerate(sizes))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)

    assert [isinstance(outcome, Misuse) for outcome in outcomes] == [False, False, True, False]
    assert len(table.held) == 3


async def test_an_answer_that_is_lost_is_lost_for_all_who_shared_it(
    table: Watched, group: GroupCommit
) -> None:
    table.fail.append(Unavailable("no answer"))
    outcomes = await asyncio.gather(*(group.write(new(f"job{n}")) for n in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    assert await group.write(new("job9"))


async def test_one_who_gives_up_takes_no_one_with_him(table: Watched, group: GroupCommit) -> None:
    table.go.clear()
    patient = asyncio.create_task(group.write(new("patient")))
    hasty = asyncio.create_task(group.write(new("hasty")))
    await asyncio.sleep(0.01)
    hasty.cancel()
    table.go.set()
    assert await patient
    assert len(table.held) == 2  # what was on its way is written all the same


async def test_nothing_is_kept_of_what_is_done(group: GroupCommit) -> None:
    await asyncio.gather(*(group.write(new(f"job{n}", partition=f"s{n}")) for n in range(5)))
    await asyncio.sleep(0)
    assert group._last == {}
