"""The schedule of deliveries, followed through the outbox, its wake-ups and the sweeper."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from shared.core.notify.schedule import Schedule
from shared.core.ports import Posted
from tests.doubles.memory import MemoryWebhooks
from tests.unit.delivery.test_deliver import OK, RECEIVER_DOWN, ended, next_try
from tests.unit.world import World

HOUR, DAY = 3600.0, 86400.0
BUSY = Posted("busy", None, "not sent", None, 0)


class Watched(MemoryWebhooks):
    """Remembers when each delivery came."""

    def __init__(self, *answers: Posted) -> None:
        super().__init__(list(answers))
        self.at: list[datetime] = []

    async def post(self, *args: object, **named: object) -> Posted:
        self.at.append(args[4])  # type: ignore[arg-type]
        return await super().post(*args, **named)  # type: ignore[arg-type]


def _watch(world: World, *answers: Posted) -> Watched:
    world.webhooks = Watched(*answers)
    world.use(webhooks=world.webhooks)
    return world.webhooks


def _waits(hooks: Watched) -> list[float]:
    return [(b - a).total_seconds() for a, b in zip(hooks.at, hooks.at[1:], strict=False)]


@pytest.mark.parametrize("wait", [48 * HOUR, 10 * DAY])
@pytest.mark.parametrize("woken", ["by the sweeper alone", "by messages, which come too early"])
async def test_a_wait_of_any_length_in_the_schedule_is_kept(world: World, wait: float, woken: str) -> None:
    """A queue hides a message for seven days at most, so a message may come long before its time."""
    world.policy(schedule=Schedule((5, wait)))
    hooks = _watch(world, RECEIVER_DOWN)
    await ended(world, *hooks.answers)
    await next_try(world)

    while len(hooks.at) < 3:
        if woken == "by the sweeper alone":
            await world.make_pass(HOUR)
        else:
            await next_try(world, 6 * DAY)

    assert wait <= _waits(hooks)[-1] <= wait + 2 * HOUR


async def test_an_address_that_asks_for_a_day_of_rest_gets_it(world: World) -> None:
    world.use(jitter=lambda: 0.99)
    hooks = _watch(world, Posted("retry", 429, "429", DAY, 1), OK)
    await ended(world, *hooks.answers)
    for _ in range(30):
        await world.make_pass(HOUR)

    assert DAY <= _waits(hooks)[0] <= DAY + 2 * HOUR


async def test_no_event_is_looked_at_while_its_address_is_left_alone_for_a_day(world: World) -> None:
    """The longest pause with its spread is a wait like any other, and not the mark of a wrong clock."""
    world.use(jitter=lambda: 0.99)
    world.policy(schedule=Schedule((5,)))
    await ended(world, Posted("busy", None, "not sent", DAY, 0))
    for _ in range(24):
        await world.make_pass(HOUR)

    assert len(world.webhooks.posts) == 1


async def test_an_event_whose_receiver_never_has_room_is_given_up_after_the_life_of_an_event(
    world: World,
) -> None:
    await ended(world, BUSY)
    begun = world.now
    life = world.ports.policy.schedule.life
    while world.now - begun < life - timedelta(hours=1):
        await world.make_pass(HOUR / 2)
    assert await world.outbox.dead() == []

    while world.now - begun < life + timedelta(hours=1):
        await world.make_pass(HOUR / 2)
    (notice,) = await world.outbox.dead()

    assert [(one.state, one.try_count) for one in notice.deliveries if one.webhook] == [("dead", 0)]
    assert not any(key.startswith("o|") for _, key in world.ledger.rows)
