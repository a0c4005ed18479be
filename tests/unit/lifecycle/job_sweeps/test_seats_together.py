"""Several sweeps of jobs in one pass, at once with other processes, and with storage that fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from shared.core.errors import Unavailable
from shared.core.job import JobState
from shared.core.job_sweeps.record import JobSweep, StoredSweep, sweep_id
from shared.core.ledger.entries import Active
from shared.intake.arrive import message_arrived
from shared.intake.candidate import key_of
from shared.lifecycle.grants import Loaded, admitted
from shared.lifecycle.job_sweeps import seats
from shared.lifecycle.job_sweeps.seats import advance, seat
from shared.lifecycle.lookup import legible as read_legible
from shared.operate.job_sweeps import cancel_sweep
from tests.unit.lifecycle.job_sweeps.swept import (
    accepted_sweep,
    end,
    read_sweep,
    reported_ends,
    states,
    sweep_message,
    swept_jobs,
)
from tests.unit.world import World, job_json

QUEUED, ACCEPTED, SUCCEEDED = JobState.QUEUED, JobState.ACCEPTED, JobState.SUCCEEDED


async def _second(world: World, **members: Any) -> JobSweep:
    await message_arrived(world.ports, json.dumps(sweep_message(**members)).encode(), "m9")
    return await read_sweep(world, sweep_id(key_of("queue", "message:m9")))


async def _stored(world: World, sweep: JobSweep) -> StoredSweep:
    stored = await world.ports.job_sweeps.get(sweep.id)
    assert stored is not None
    return stored


async def _rows(world: World) -> list[Active]:
    shards = [await world.ledger.active(n) for n in range(world.ledger.shards)]
    return [row for rows in shards for row in rows]


def _failing(original: Callable[..., Awaitable[Any]], identity: str) -> Callable[..., Awaitable[Any]]:
    """The same verb, which has no answer for one sweep: its id, or its record, is the first argument."""

    async def act(port: Any, one: Any, *more: Any) -> Any:
        if identity in str(one):
            raise Unavailable("no answer")
        return await original(port, one, *more)

    return act


async def test_two_sweeps_get_their_seats_and_ends_in_the_same_pass(world: World) -> None:
    one, two = await accepted_sweep(world, parallel=1), await _second(world, parallel=2)
    await world.make_pass()
    end(world, await world.job(one.job_id(0)))
    await world.make_pass()

    assert await states(world, one) == [SUCCEEDED, QUEUED, ACCEPTED, ACCEPTED]
    assert await states(world, two) == [QUEUED, QUEUED, ACCEPTED, ACCEPTED]


@pytest.mark.parametrize("verb", ["get", "change"])
async def test_a_sweep_that_storage_has_no_answer_for_keeps_no_other_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    one, two = await accepted_sweep(world, parallel=1), await _second(world, parallel=1)
    kind = type(world.ports.job_sweeps)
    with monkeypatch.context() as patch:
        patch.setattr(kind, verb, _failing(getattr(kind, verb), one.id))
        await world.make_pass()
        await world.make_pass()
    assert await states(world, one) == [ACCEPTED] * 4
    assert await states(world, two) == [QUEUED, ACCEPTED, ACCEPTED, ACCEPTED]

    await world.make_pass()

    assert await states(world, one) == [QUEUED, ACCEPTED, ACCEPTED, ACCEPTED]


async def test_ends_that_cannot_be_read_are_counted_by_the_next_pass(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()
    end(world, await world.job(sweep.job_id(0)))

    async def fail(*_: Any) -> None:
        raise Unavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(seats, "ends_of", fail)
        other = await _second(world, parallel=1)
        await world.make_pass()
    assert await states(world, sweep) == [SUCCEEDED, ACCEPTED, ACCEPTED, ACCEPTED]
    assert await states(world, other) == [QUEUED, ACCEPTED, ACCEPTED, ACCEPTED]

    await world.make_pass()

    assert await states(world, sweep) == [SUCCEEDED, QUEUED, ACCEPTED, ACCEPTED]


async def test_only_jobs_that_wait_for_nothing_but_a_seat_are_to_be_submitted(world: World) -> None:
    await world.message({"spec": job_json(), "name": "data"}, "m0")
    sweep = await accepted_sweep(world, parallel=1)
    later = await _second(world, after=["data"], parallel=1)

    async def ready() -> list[str]:
        loaded = Loaded(await _rows(world), [sweep.id, later.id])
        return [row.job_id for row in (await admitted(world.ports, loaded)).rows]

    assert await ready() == [sweep.job_id(0)]
    await world.make_pass()
    assert await ready() == []


async def test_a_recorded_sweep_orders_no_more_records_and_its_end_is_logged_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, seats.__name__)
    sweep = await accepted_sweep(world, parallel=4)
    await world.make_pass()
    await world.make_pass()
    assert caplog.messages == []
    for job in await swept_jobs(world, sweep):
        end(world, job)
    await world.make_pass()
    await world.make_pass()

    assert [queue for queue, *_ in world.queues.messages if queue == "jobs"] == []
    assert caplog.messages == [f"the job sweep {sweep.id} has ended"]


async def test_an_old_version_of_a_record_is_read_again(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    old = await _stored(world, sweep)
    assert await world.ports.job_sweeps.change(old, old.sweep.model_copy(update={"parallel": 3}))

    after = await advance(world.ports, old, {})

    assert after == await _stored(world, sweep)
    assert after.sweep.seats == (0, 1, 2)


async def test_a_record_that_changes_all_the_time_is_left_as_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = await _stored(world, await accepted_sweep(world))

    async def refuse(*_: Any) -> None:
        return None

    monkeypatch.setattr(type(world.ports.job_sweeps), "change", refuse)
    assert await advance(world.ports, stored, {}) == stored
    monkeypatch.setattr(type(world.ports.job_sweeps), "get", refuse)
    assert await advance(world.ports, stored, {}) == stored


async def test_a_job_without_a_sweep_costs_no_read_of_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.message({"spec": job_json()}, "m0")
    sweep = await accepted_sweep(world)
    original, ids = type(world.ports.job_sweeps).get, []

    async def get(port: Any, identity: str) -> StoredSweep | None:
        ids.append(identity)
        return await original(port, identity)

    monkeypatch.setattr(type(world.ports.job_sweeps), "get", get)
    await seat(world.ports, await _rows(world), [sweep.id], ())

    assert ids == [sweep.id]


async def test_an_end_comes_once_and_its_event_is_due_after_a_grace_period(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=4)
    ends = {sweep.job_id(index): SUCCEEDED for index in range(4)}

    async def deliver(*_: Any) -> None:
        """The process dies before."""

    monkeypatch.setattr(seats, "deliver_now", deliver)
    ended = await advance(world.ports, await _stored(world, sweep), ends)
    world.pass_time(5)
    monkeypatch.setattr(type(world.ports.job_sweeps), "end", None)
    again = await advance(world.ports, ended, ends)

    notice = await world.outbox.notice(sweep.id, 1)
    assert notice is not None
    assert ended.sweep.ended is not None
    assert notice.due == ended.sweep.ended + timedelta(seconds=world.ports.policy.deliver_grace)
    assert again == ended
    assert reported_ends(world) == []


async def test_the_end_of_a_job_is_asked_for_once_and_one_without_a_record_keeps_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    await world.make_pass()
    looks: list[str] = []

    async def legible(ports: Any, job_id: str) -> Any:
        looks.append(job_id)
        return None if job_id == sweep.job_id(3) else await read_legible(ports, job_id)

    async def fail(*_: Any) -> None:
        raise Unavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr("shared.operate.job_sweeps.request_end", fail)
        await cancel_sweep(world.ports, sweep.id)
    monkeypatch.setattr(seats, "legible", legible)
    await world.make_pass()
    first = sorted(looks)
    looks.clear()
    await world.make_pass()

    assert first == sorted(sweep.job_id(index) for index in range(4))
    assert looks == [sweep.job_id(3)]
    assert await seat(world.ports, await _rows(world), [sweep.id], ()) == set()
