"""Whose turn it is, what asking costs, and what is said of a pause."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.admission.pauses import pause, paused, resume
from shared.admission.sentences import describe_pause
from shared.admission.slots import good_for
from shared.core.errors import Unavailable
from shared.core.job import JobState
from shared.core.ledger.entries import Active
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.teams.document import Teams
from shared.lifecycle.grants import Loaded, admitted
from tests.doubles.memory import MemoryLedger
from tests.unit.lifecycle.waiting.test_admit import Counting, counted
from tests.unit.world import World, job_json


async def test_a_pause_keeps_who_and_why_as_far_as_they_can_be_read(world: World) -> None:
    result = await pause(world.ports, "ann\n" + "n" * 100, "why\x00" + "y" * 200)

    assert (result.by, result.reason) == ("ann " + "n" * 96, "why " + "y" * 196)
    assert await world.ledger.paused() == result


@pytest.mark.parametrize(
    ("by", "reason", "message"),
    [
        ("ann", "", "submissions are paused by ann"),
        ("ann", "the cluster moves", "submissions are paused by ann (the cluster moves)"),
        ("", "", "submissions are paused by an operator"),
    ],
)
async def test_a_pause_in_words(world: World, by: str, reason: str, message: str) -> None:
    assert describe_pause(await pause(world.ports, by, reason)) == message


async def test_who_pauses_or_resumes_sees_it_at_once(world: World) -> None:
    assert await paused(world.ports) is None
    await pause(world.ports, "ann", "")
    assert await paused(world.ports) is not None
    assert await resume(world.ports, "ann") is None
    assert (await world.message(job_json())).job.state is JobState.QUEUED


async def _waiting(world: World, number: int) -> list[str]:
    ids = []
    await pause(world.ports, "ann", "")
    for n in range(number):
        ids.append((await world.message(job_json(), f"m{n}")).job.id)
        world.pass_time(1)
    await resume(world.ports, "ann")
    return ids


async def _rows(world: World) -> list[Active]:
    return [row for shard in range(world.ledger.shards) for row in await world.ledger.active(shard)]


async def _ready(world: World, rows: list[Active]) -> list[str]:
    return [row.job_id for row in (await admitted(world.ports, Loaded(rows, []))).rows]


async def test_what_waits_is_submitted_in_the_order_in_which_it_came(world: World) -> None:
    ids = await _waiting(world, 6)
    assert await _ready(world, await _rows(world)) == ids

    world.policy(max_active_jobs=4)
    assert await _ready(world, await _rows(world)) == ids[:4]


async def test_without_a_limit_all_that_waits_is_submitted(world: World) -> None:
    ids = await _waiting(world, 3)
    world.policy(max_active_jobs=0)

    assert await _ready(world, await _rows(world)) == ids


@pytest.mark.parametrize(
    ("wait", "hourly", "result"), [(WaitKind.SLOT, 0, 1), (WaitKind.SLOT, 1, 0), (WaitKind.ROOM, 1, 1)]
)
async def test_a_wait_of_days_is_believed_only_where_jobs_take_turns(
    world: World, wait: WaitKind, hourly: int, result: int
) -> None:
    await _waiting(world, 1)
    days = timedelta(days=3)
    planned = days if wait is WaitKind.SLOT else None
    rows = [row._replace(due=world.now + days, wait=wait, planned_wait=planned) for row in await _rows(world)]
    world.policy(max_jobs_per_hour=hourly)

    assert len(await _ready(world, rows)) == result


async def test_where_nothing_is_due_no_one_asks_for_the_switch(world: World) -> None:
    ledger = counted(world)

    assert await _ready(world, []) == []

    assert ledger.requests == []


@pytest.mark.parametrize("limits", [{"max_jobs_per_hour": 5}, {"max_active_jobs": 5}], ids=str)
async def test_of_many_at_once_one_asks_for_the_counts(world: World, limits: dict[str, int]) -> None:
    class Slow(Counting):
        async def recent(self, source: str, since: datetime, until: datetime) -> dict[str, datetime]:
            await asyncio.sleep(0)
            return await super().recent(source, since, until)

        async def active(self, shard: int) -> list[Active]:
            await asyncio.sleep(0)
            return await super().active(shard)

    ledger = Slow(world.clock)
    world.use(ledger=ledger)
    world.policy(**limits)

    await asyncio.gather(*(world.message(job_json(), f"m{n}") for n in range(20)))

    assert (ledger.requests.count("recent"), ledger.requests.count("active")) in ((1, 0), (0, ledger.shards))


class SilentLedger(MemoryLedger):
    async def create(self, *args: Any) -> Any:
        raise Unavailable("storage answered 503")


async def _in_vain(world: World) -> None:
    """A message whose record fails, again and again."""
    mine = world.ledger
    world.use(ledger=SilentLedger(world.clock, table=mine.table))
    for _ in range(3):
        with pytest.raises(Unavailable):
            await world.message(job_json(), "m1")
    world.use(ledger=mine)


async def test_a_job_that_comes_again_because_its_record_failed_keeps_its_turn(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    await world.message(job_json(), "m0")
    await _in_vain(world)

    assert (await world.message(job_json(), "m1")).job.slot == world.now + timedelta(hours=1)
    assert (await world.message(job_json(), "m2")).job.slot == world.now + timedelta(hours=2)


async def test_a_job_that_comes_again_because_its_record_failed_keeps_its_place_at_work(world: World) -> None:
    world.policy(max_active_jobs=1)
    await _in_vain(world)

    assert (await world.message(job_json(), "m1")).job.state is JobState.QUEUED
    assert (await world.message(job_json(), "m2")).job.state is JobState.ACCEPTED


async def test_without_limits_no_job_waits_and_nothing_is_counted(world: World) -> None:
    ledger = counted(world)
    world.policy(max_jobs_per_hour=0, max_active_jobs=0)
    for n in range(3):
        assert (await world.message(job_json(), f"m{n}")).job.state is JobState.QUEUED

    assert ledger.requests == ["paused"]


@pytest.mark.parametrize(("limit", "result", "seconds"), [(999, 0, 15), (1000, 0, 300), (1999, 1000, 15)])
def test_a_count_is_good_for_longer_far_from_its_limit(limit: int, result: int, seconds: float) -> None:
    assert good_for(limit, range(result)) == seconds


async def test_teams_take_turns_by_their_weights_where_all_together_reach_the_limit(world: World) -> None:
    teams = Teams.model_validate({"default": "a", "teams": {"a": {}, "b": {"weight": 3}}})
    assert await world.ports.teams.put(teams, "") is not None
    world.policy(max_active_jobs=4, paused=True)
    for number in range(12):
        document = {"spec": job_json(), "team": "a" if number < 6 else "b"}
        await world.message(document, f"m{number}")
    world.policy(paused=False)

    await world.make_pass()

    at_work = [job.team for job in world.ledger.jobs if job.state is JobState.QUEUED]
    assert sorted(at_work) == ["a", "b", "b", "b"]
