"""Two apps on one storage: the second is refused, by a row that names the first, unless it says the same."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.ledger import TableLedger
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Row
from shared.core.errors import Misconfigured
from shared.intake.arrive import message_arrived
from shared.lifecycle.sweeper import make_pass
from shared.operate.ready import ready
from shared.settings import Settings
from tests.doubles.memory import MemoryTable
from tests.unit.world import World


class Counted(MemoryTable):
    """How often it was asked."""

    requests = 0

    async def rows(self, expected: Range) -> list[Row]:
        self.requests += 1
        return await super().rows(expected)

    async def transact(self, operations: list[Operation]) -> list[str]:  # type: ignore[override]
        self.requests += 1
        return await super().transact(operations)


def store(table: MemoryTable, owner: str) -> ShardedTable:
    return ShardedTable(table, 4, linger=0, owner=owner)


async def test_a_second_app_is_refused_by_name_and_the_first_one_goes_on(world: World) -> None:
    table = MemoryTable(world.clock)
    await store(table, "ours").open()
    with pytest.raises(
        Misconfigured, match=r"belongs to the app 'ours', and this is 'theirs'.*SLIPWAY_OWNER"
    ):
        await store(table, "theirs").open()
    await store(table, "ours").open()


async def test_no_request_to_a_refused_app_changes_anything_and_its_health_reports_that(
    world: World,
) -> None:
    table = MemoryTable(world.clock)
    await store(table, "ours").open()
    before = dict(table.held)
    theirs = store(table, "theirs")
    ports = replace(world.ports, ledger=TableLedger(theirs), dead=TableDeadMessages(theirs))
    for act in (
        make_pass(ports),
        message_arrived(ports, b"{}", "m1"),
        message_arrived(ports, b"{}", "m1", 99),
    ):
        with pytest.raises(Misconfigured):
            await act
    assert table.held == before
    readiness = await ready(ports)
    assert (readiness.ready, readiness.settings_wrong) == (False, True)


async def test_a_table_from_before_there_were_owners_belongs_to_who_comes_first(world: World) -> None:
    table = MemoryTable(world.clock)
    await store(table, "").open()
    await store(table, "ours").open()
    with pytest.raises(Misconfigured):
        await store(table, "theirs").open()


async def test_of_two_that_start_at_once_one_wins(world: World) -> None:
    table = MemoryTable(world.clock)
    opened = await asyncio.gather(*(store(table, name).open() for name in ("a", "b")), return_exceptions=True)
    assert sum(isinstance(one, Misconfigured) for one in opened) == 1


async def test_a_start_costs_one_request(world: World) -> None:
    table = Counted(world.clock)
    await store(table, "ours").open()
    table.requests = 0
    again = store(table, "ours")
    await asyncio.gather(*(again.open() for _ in range(5)))
    assert table.requests == 1


@pytest.mark.parametrize(
    ("values", "owner"),
    [
        ({}, "local"),
        ({"WEBSITE_SITE_NAME": "jobs"}, "jobs"),
        ({"WEBSITE_SITE_NAME": "jobs", "WEBSITE_SLOT_NAME": "Production"}, "jobs"),
        ({"WEBSITE_SITE_NAME": "jobs", "WEBSITE_SLOT_NAME": "staging"}, "jobs/staging"),
        ({"WEBSITE_SITE_NAME": "jobs", "WEBSITE_SLOT_NAME": "staging", "SLIPWAY_OWNER": "jobs"}, "jobs"),
    ],
)
def test_an_app_is_known_by_its_name_and_slot_or_by_its_setting(values: dict[str, str], owner: str) -> None:
    assert Settings(values).owner() == owner


@pytest.mark.parametrize("layout", [{}, {"Version": 3}, {"Version": 4, "Shards": 4}])
async def test_a_layout_that_does_not_fit_is_reported_and_never_a_defect(
    world: World, layout: dict[str, int]
) -> None:
    table = MemoryTable(world.clock)
    await table.transact([Operation("create", {"PartitionKey": "meta", "RowKey": "layout", **layout})])
    with pytest.raises(Misconfigured):
        await store(table, "ours").open()
