"""Health while storage answers reads and takes no writes: a role that only reads, a lock, a full account."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from shared.operate.ready import ready
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.unit.world import World

REFUSED = "storage answered 403 AuthorizationPermissionMismatch"


def _table(world: World) -> MemoryTable:
    assert isinstance(world.ledger.table, MemoryTable)
    return world.ledger.table


#: What takes no writes → how the world refuses them, and lets them pass with "".
REFUSING: dict[str, Callable[[World, str], None]] = {
    "the table of records": lambda world, why: setattr(_table(world), "refusal", why),
    "the container of answers": lambda world, why: setattr(world.drops, "refusal", why),
    "the queue of jobs": lambda world, why: setattr(world.queues, "refusal", why),
    "the container of the archive": lambda world, why: setattr(world.archive, "refusal", why),
}


@pytest.mark.parametrize("place", REFUSING)
async def test_a_place_that_takes_no_writes_is_named_and_the_log_has_the_reason(
    world: World, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await ready(world.ports)).ready
    REFUSING[place](world, REFUSED)
    world.pass_time(61)

    with caplog.at_level(logging.WARNING):
        readiness = await ready(world.ports)

    assert (readiness.storage, readiness.ready, readiness.unwritable) == (True, False, (place,))
    assert f"{place}: {REFUSED}" in caplog.text

    REFUSING[place](world, "")
    world.pass_time(6)
    assert (await ready(world.ports)).ready, "what was refused is tried again soon"


async def test_a_try_of_every_write_leaves_nothing(world: World) -> None:
    await world.ledger.store.open()
    before = {key: row.row for key, row in world.ledger.held.items()}

    await ready(world.ports)

    assert {key: row.row for key, row in world.ledger.held.items()} == before
    assert (world.queues.messages, world.drops.answers, world.archive.blobs) == ([], {}, {})


async def test_writes_are_tried_once_a_minute_however_often_health_is_asked_for(world: World) -> None:
    for _ in range(9):
        await asyncio.gather(*(ready(world.ports) for _ in range(3)))
        world.pass_time(6)
    assert world.drops.tries == 1

    world.pass_time(7)
    await ready(world.ports)
    assert world.drops.tries == 2


async def test_a_storage_that_answers_nothing_is_not_said_to_refuse_writes(world: World) -> None:
    class Silent(MemoryTable):
        async def rows(self, key_range: object) -> list[dict[str, object]]:
            raise TimeoutError

    world.use(ledger=MemoryLedger(world.clock, table=Silent(world.clock)))

    readiness = await ready(world.ports)

    assert (readiness.storage, readiness.unwritable) == (False, ())


async def test_a_layout_that_vanished_is_reported(world: World) -> None:
    """The app works on, and would not start again."""
    await ready(world.ports)
    del world.ledger.held["meta", "layout"]
    world.pass_time(61)

    assert (await ready(world.ports)).unwritable == ("the table of records",)
