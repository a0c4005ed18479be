"""Receivers that hang, and what they do not hold up: the sweeper's patience with them is real time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.delivery.deliver import finish
from tests.unit.delivery.test_receivers import Hanging, jobs_that_end
from tests.unit.world import World


@pytest.fixture
def world() -> World:
    return World()


async def test_two_hundred_hanging_receivers_hold_neither_the_sweeper_nor_the_others(world: World) -> None:
    world.use(webhooks=(hooks := Hanging()))
    world.policy(deliver_patience=1)
    await jobs_that_end(world, [*(f"hang{n}" for n in range(200)), *(f"fine{n}" for n in range(20))])

    await world.make_pass()  # comes back although no one has let the hanging ones go

    assert hooks.hanging == 200
    assert {url for url, _, _ in hooks.posts} == {f"https://fine{n}.example.com/x" for n in range(20)}
    assert not any(key.startswith("n|") for _, key in world.ledger.rows)
    hooks.held.set()
    await finish(world.ports)
    waiting = [
        row
        for n in range(4)
        for row in await world.outbox.undelivered(n, world.now + timedelta(hours=1), timedelta(days=9))
    ]
    assert len(waiting) == 200
    assert {
        delivery.tries[0].detail for row in waiting for delivery in row.deliveries if delivery.webhook
    } == {"timeout"}


async def test_one_hanging_receiver_of_many_events_holds_its_own_lane_only(world: World) -> None:
    world.use(webhooks=(hooks := Hanging()))
    world.policy(deliver_patience=1, deliver_batch=4)
    await jobs_that_end(world, ["hang"] * 50 + ["fine"] * 10)

    await world.make_pass()

    assert (hooks.hanging, len(hooks.posts)) == (4, 10)
    assert len([queue for queue, _, _ in world.queues.messages if queue == "job-events"]) == 46
    hooks.held.set()
    await finish(world.ports)
