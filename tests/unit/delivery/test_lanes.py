"""Deliveries side by side: lanes, deadlines, and what goes on without its function."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from shared.core.errors import Unavailable
from shared.core.notify.events import RECEIPT
from shared.delivery.deliver import deliver, deliver_at_door, deliver_due, deliver_now, finish
from shared.lifecycle.current_teams import current_teams
from tests.unit.delivery.deliveries import HANGS, A, Hooks, Outbox, notice, woken
from tests.unit.lifecycle.test_meter import Counting
from tests.unit.world import World

#: Turns of the loop in one patience: some times what an event takes, and a small part of what many do.
_TURNS = 50


@pytest.fixture
async def few_turns(world: World, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A patience that is counted in turns of the loop, not by a clock; the tasks that remained after each."""
    await current_teams(world.ports)  # which the first delivery of a process reads
    remaining: list[int] = []

    async def wait(tasks: set[asyncio.Task[Any]], **named: object) -> tuple[set[Any], set[Any]]:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        done = {task for task in tasks if task.done()}
        remaining.append(len(tasks - done))
        return done, tasks - done

    monkeypatch.setattr(asyncio, "wait", wait)
    return remaining


# Lanes and deadlines


async def test_a_lane_that_moves_goes_on_after_the_patience(
    world: World, hooks: Hooks, outbox: Outbox, few_turns: list[int]
) -> None:
    world.policy(deliver_batch=1, deliver_deadline=1e9)
    events = [notice(world, n) for n in range(300)]

    assert await deliver_due(world.ports, events) == 300

    assert hooks.posts == [f"evt_{n}" for n in range(300)]
    assert [one.state for one in outbox.settled] == ["delivered"] * 300
    assert woken(world) == []
    assert len(few_turns) > 3  # the patience was over more than once
    assert few_turns[:-1] == [1] * (len(few_turns) - 1)


@pytest.mark.usefixtures("few_turns")
async def test_the_events_of_one_receiver_share_a_lane_whether_or_not_they_leave_a_receipt(
    world: World, hooks: Hooks
) -> None:
    world.policy(deliver_batch=2, deliver_deadline=1e9)
    ends = [notice(world, n, RECEIPT, A) for n in range(10)]
    await deliver_now(world.ports, *(notice(world, n + 10) for n in range(10)), *ends)
    assert (len(hooks.posts), hooks.most_at_once) == (20, 2)


@pytest.mark.usefixtures("few_turns")
async def test_when_nothing_moves_any_more_the_rest_is_left_however_far_the_deadline_is(
    world: World, hooks: Hooks, outbox: Outbox
) -> None:
    world.policy(deliver_batch=2, deliver_deadline=1e9)
    events = [notice(world, n, HANGS) for n in range(5)]

    async with asyncio.timeout(60):  # only a defect waits
        assert await deliver_due(world.ports, events) == 2
        assert (hooks.posts, outbox.settled) == (["evt_0", "evt_1"], [])

        hooks.held.set()
        await finish(world.ports)
    # What has begun came to its end; the rest is no one's until the next pass.
    assert [one.event_id for one in outbox.settled] == ["evt_0", "evt_1"]
    assert hooks.posts == ["evt_0", "evt_1"]


async def test_beyond_the_deadline_nothing_begins(world: World, hooks: Hooks) -> None:
    world.policy(deliver_deadline=0)
    events = [notice(world, n) for n in range(3)]
    assert await deliver_due(world.ports, events) == 0
    assert woken(world) == []  # the next pass comes back to them

    await deliver_now(world.ports, *events)
    await finish(world.ports)
    assert hooks.posts == []
    assert sorted(woken(world)) == [(0, 0), (1, 0), (2, 0)]


async def test_the_events_that_are_due_for_longest_go_first(world: World, hooks: Hooks) -> None:
    world.policy(deliver_batch=1)
    await deliver_due(world.ports, [notice(world, n, due=-n) for n in (1, 3, 2)])
    assert hooks.posts == ["evt_3", "evt_2", "evt_1"]


@pytest.mark.parametrize(("dues", "oldest"), [((), 0.0), ((-5.0, -90.0), 90.0), ((30.0,), 0.0)])
async def test_the_age_of_the_oldest_event_is_measured(
    world: World, hooks: Hooks, dues: tuple[float, ...], oldest: float
) -> None:
    world.use(meter=(meter := Counting()))
    await deliver_due(world.ports, [notice(world, n, due=due) for n, due in enumerate(dues)])
    assert meter.values == {("slipway.outbox.oldest",): oldest}


# What goes on without its function


async def _left_under_way(world: World) -> asyncio.Task[Any]:
    """A delivery whose function has returned."""
    before = asyncio.all_tasks()
    assert await deliver(world.ports, "j_7", 7) is None
    (task,) = asyncio.all_tasks() - before
    return task


@pytest.fixture
def leaving(world: World, outbox: Outbox) -> None:
    world.policy(deliver_patience=0)
    outbox.rows["j_7", 7] = notice(world, 7, HANGS)


@pytest.mark.usefixtures("leaving")
async def test_what_was_left_comes_to_its_end_without_a_word(
    world: World, hooks: Hooks, outbox: Outbox, caplog: pytest.LogCaptureFixture
) -> None:
    await _left_under_way(world)
    hooks.held.set()
    await finish(world.ports)
    assert [one.state for one in outbox.settled] == ["delivered"]
    assert caplog.records == []


@pytest.mark.usefixtures("leaving")
async def test_an_error_of_what_was_left_is_logged_and_stops_no_one(
    world: World, hooks: Hooks, outbox: Outbox, caplog: pytest.LogCaptureFixture
) -> None:
    await _left_under_way(world)
    outbox.away = True
    hooks.held.set()
    await finish(world.ports)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], Unavailable)


@pytest.mark.usefixtures("leaving", "hooks")
async def test_what_was_left_may_be_cancelled_when_the_process_ends(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    task = await _left_under_way(world)
    task.cancel()
    await finish(world.ports)
    assert task.cancelled()
    assert caplog.records == []


async def test_an_error_while_someone_waits_is_that_of_the_function(world: World, outbox: Outbox) -> None:
    outbox.rows["j_7", 7] = notice(world, 7)
    outbox.away = True
    with pytest.raises(Unavailable):
        await deliver(world.ports, "j_7", 7)


@pytest.mark.usefixtures("hooks")
async def test_at_the_door_an_error_is_left_to_the_sweep(
    world: World, outbox: Outbox, caplog: pytest.LogCaptureFixture
) -> None:
    outbox.away = True
    await deliver_at_door(world.ports, notice(world, 7))
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [(logging.WARNING, None)]


async def test_at_the_door_no_one_waits_for_a_receiver_that_hangs(world: World, hooks: Hooks) -> None:
    await current_teams(world.ports)
    world.policy(deliver_patience=0)
    async with asyncio.timeout(60):  # only a defect waits
        await deliver_at_door(world.ports, notice(world, 7, HANGS))
        assert hooks.posts == ["evt_7"]
        hooks.held.set()
        await finish(world.ports)
