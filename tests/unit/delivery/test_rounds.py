"""One round of one event: what it leaves in the outbox and the queue, and which receivers it passes over."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from shared.core.notify.events import Delivery
from shared.core.notify.receivers import Disabled, receiver_id
from shared.delivery.deliver import deliver, deliver_due, finish
from tests.unit.delivery.deliveries import HANGS, A, B, Hooks, Outbox, notice, woken
from tests.unit.delivery.test_deliver import RECEIVER_DOWN
from tests.unit.world import World


async def test_an_event_that_is_delivered_is_settled_as_it_is_and_wakes_no_one(
    world: World, outbox: Outbox
) -> None:
    event = notice(world, 7, A, B, due=-60)
    outbox.rows["j_7", 7] = event
    after = await deliver(world.ports, "j_7", 7)

    assert after is not None
    assert [delivery.state for delivery in after.deliveries] == ["delivered"] * 2
    assert after.due == event.due
    assert outbox.settled == [after]
    assert woken(world) == []


async def test_an_event_that_is_not_comes_back_by_message_and_a_little_later_by_the_sweeper(
    world: World, hooks: Hooks, outbox: Outbox
) -> None:
    hooks.answer = RECEIVER_DOWN
    delivered = Delivery(url=B, due=world.now - timedelta(days=1), state="delivered")
    event = notice(world, 7)
    outbox.rows["j_7", 7] = event.model_copy(update={"deliveries": (*event.deliveries, delivered)})

    after = await deliver(world.ports, "j_7", 7)

    (settled,) = outbox.settled
    assert after is not None
    assert after.due == world.now + timedelta(seconds=5)
    assert settled.due == world.now + timedelta(seconds=5 + 30)
    assert settled.deliveries == after.deliveries
    assert woken(world) == [(7, 5)]
    assert [delivery.try_count for delivery in after.deliveries] == [1, 0]


async def test_an_event_that_is_under_way_is_left_to_anyone_who_sends_it(
    world: World, hooks: Hooks, outbox: Outbox
) -> None:
    world.policy(deliver_patience=0)
    event = notice(world, 7, HANGS)
    outbox.rows["j_7", 7] = event
    assert await deliver(world.ports, "j_7", 7) is None  # it goes on without us

    world.policy(deliver_patience=60)
    assert await deliver(world.ports, "j_7", 7) == event
    assert hooks.posts == ["evt_7"]

    hooks.held.set()
    await finish(world.ports)
    await deliver(world.ports, "j_7", 7)
    assert hooks.posts == ["evt_7", "evt_7"]


async def test_an_event_that_is_not_there_is_no_event(world: World, hooks: Hooks) -> None:
    assert await deliver(world.ports, "j_7", 7) is None
    assert hooks.posts == []


# Who is disabled


def _disabled(world: World) -> Disabled:
    return Disabled(receiver_id(A), A, world.now, "410")


async def test_a_process_that_knows_of_no_one_asks_in_a_pass_only(world: World, outbox: Outbox) -> None:
    outbox.rows["j_7", 7] = notice(world, 7)
    await deliver(world.ports, "j_7", 7)
    assert outbox.reads == 0

    for _ in range(3):
        await deliver_due(world.ports, [])
    assert outbox.reads == 1
    world.pass_time(300)
    await deliver_due(world.ports, [])
    assert outbox.reads == 2


async def test_who_was_disabled_and_wants_events_again_gets_them_at_once_from_every_process(
    world: World, hooks: Hooks, outbox: Outbox
) -> None:
    outbox.disabled_receivers = [_disabled(world)]
    await deliver_due(world.ports, [notice(world, 1)])
    assert hooks.posts == []

    outbox.disabled_receivers = []
    outbox.rows["j_7", 7] = notice(world, 7)
    await deliver(world.ports, "j_7", 7)  # a person enabled it at another process, and sends the event again
    assert hooks.posts == ["evt_7"]


async def test_a_ledger_that_does_not_say_who_is_disabled_stops_no_delivery(
    world: World, hooks: Hooks, outbox: Outbox
) -> None:
    outbox.away = True
    world.use(outbox=replace(outbox, settled=[]))
    await deliver_due(world.ports, [notice(world, 1)])
    assert hooks.posts == ["evt_1"]
