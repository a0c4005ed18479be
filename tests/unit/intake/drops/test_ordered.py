"""A delayed look that is ordered takes the place of all others, and of none that it cannot stand for."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from shared.core.errors import Unavailable
from shared.core.ledger.entries import DropMemo
from shared.core.messages import look_message
from shared.intake.arrive import blob_arrived, message_arrived
from shared.intake.drops.inventory import inventory
from shared.intake.drops.ordered import begin, is_ordered, order
from tests.doubles.memory import MemoryLedger, MemoryQueues
from tests.unit.world import World, job_json

FOLDER = "d/run/"
PLAIN = json.dumps(job_json()).encode()


async def test_an_event_joins_the_look_that_is_ordered(world: World) -> None:
    world.drops.upload(f"{FOLDER}job.json", PLAIN)
    for _ in range(5):
        await blob_arrived(world.ports, "scripts", f"{FOLDER}job.json")
    assert len(world.queues.messages) == 1


async def test_the_ordered_look_accepts_the_folder_and_leaves_no_row(world: World) -> None:
    world.drops.upload(f"{FOLDER}job.json", PLAIN)
    await blob_arrived(world.ports, "scripts", f"{FOLDER}job.json")
    ((_, body, delay),) = world.queues.messages
    world.pass_time(delay)

    (accepted,) = await message_arrived(world.ports, body.encode(), "m")

    assert accepted.created
    assert f"{FOLDER}|look" not in await world.ledger.drop_memos()


async def test_what_comes_after_an_ordered_look_began_looks_by_itself(world: World) -> None:
    await order(world.ports, FOLDER, world.now, 4)
    assert await is_ordered(world.ports, FOLDER)
    ticket = (await world.ledger.drop_memos())[f"{FOLDER}|look"].ticket

    await begin(world.ports, FOLDER, ticket, world.now)

    assert not await is_ordered(world.ports, FOLDER)


@pytest.mark.parametrize(("early", "waited"), [(0.9, 0.9), (0.0, 0.0), (1.0, 0.0), (3.0, 0.0)])
async def test_a_look_waits_itself_for_the_part_of_a_second_that_a_queue_cannot(
    world: World, early: float, waited: float
) -> None:
    """Delays that are rounded up would cost each drop half a second in the mean."""
    due = world.now + timedelta(seconds=3.9)
    await order(world.ports, FOLDER, world.now, 3.9)
    ((_, body, delay),) = world.queues.messages
    begun = world.now = due - timedelta(seconds=early)

    await begin(world.ports, FOLDER, json.loads(body)["data"]["ticket"], begun)

    assert delay == 3
    assert world.now - begun == timedelta(seconds=waited)
    assert not (await world.ledger.drop_memos())


@pytest.mark.parametrize("ticket", ["", "another"])
async def test_the_look_of_another_message_is_still_to_come(world: World, ticket: str) -> None:
    await order(world.ports, FOLDER, world.now, 4)
    await begin(world.ports, FOLDER, ticket, world.now)
    assert await is_ordered(world.ports, FOLDER)
    assert not await is_ordered(world.ports, "d/")


@pytest.mark.parametrize(("seconds", "counts"), [(3.9, True), (4, False), (3600, False)])
async def test_an_ordered_look_counts_until_it_is_due(world: World, seconds: float, counts: bool) -> None:
    await order(world.ports, FOLDER, world.now, 4)
    world.pass_time(seconds)
    assert await is_ordered(world.ports, FOLDER) is counts


@pytest.mark.parametrize(
    ("settle", "ahead", "counts"), [(3, 64, True), (3, 65, False), (7200, 3660, True), (7200, 3661, False)]
)
async def test_a_look_that_a_wrong_clock_ordered_does_not_count(
    world: World, settle: float, ahead: float, counts: bool
) -> None:
    world.policy(settle=settle)
    until = world.now + timedelta(seconds=ahead)
    await world.ledger.remember(DropMemo(f"{FOLDER}|look", {}, "", 1, folder=FOLDER, ticket="l", until=until))
    assert await is_ordered(world.ports, FOLDER) is counts


async def test_no_row_is_written_for_a_message_that_was_not_sent(world: World) -> None:
    class Broken(MemoryQueues):
        async def send(self, queue: str, body: str, *, delay: float = 0) -> str:
            raise Unavailable("storage answered 503")

    world.use(queues=Broken())
    with pytest.raises(Unavailable):
        await order(world.ports, FOLDER, world.now, 4)
    assert not await is_ordered(world.ports, FOLDER)


async def test_a_message_without_its_row_still_looks(world: World) -> None:
    class Broken(MemoryLedger):
        async def remember(self, memo: DropMemo) -> None:
            raise Unavailable("storage answered 503")

    world.drops.upload(f"{FOLDER}job.json", PLAIN)
    ledger = world.ports.ledger
    world.use(ledger=Broken(world.clock, table=world.ledger.table))
    with pytest.raises(Unavailable):
        await blob_arrived(world.ports, "scripts", f"{FOLDER}job.json")
    world.use(ledger=ledger)
    ((_, body, _),) = world.queues.messages
    world.pass_time(60)

    assert len(await message_arrived(world.ports, body.encode(), "m")) == 1


async def test_a_message_of_an_older_version_looks_too(world: World) -> None:
    world.drops.upload(f"{FOLDER}job.json", PLAIN)
    body = json.loads(look_message(FOLDER, world.now))
    del body["data"]["ticket"]
    world.pass_time(60)

    assert len(await message_arrived(world.ports, json.dumps(body).encode(), "m")) == 1


async def test_an_inventory_leaves_a_folder_to_its_ordered_look_but_not_for_long(world: World) -> None:
    world.drops.upload(f"{FOLDER}job.json", PLAIN)
    await blob_arrived(world.ports, "scripts", f"{FOLDER}job.json")
    world.queues.messages.clear()  # it is lost

    assert (await inventory(world.ports)).accepted == 0
    assert world.queues.messages == []
    world.pass_time(60)
    assert (await inventory(world.ports)).accepted == 1
