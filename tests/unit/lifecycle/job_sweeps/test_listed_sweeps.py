"""The list of sweeps: each with its true numbers, in order, bounded, and for those who may see it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.sharded_table import ShardedTable
from shared.adapters.storage.table import Operation, Range, Row, Table, VersionedRow
from shared.core.caller import READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.core.job_sweeps.record import JobSweep, sweep_id
from shared.core.job_sweeps.view import line
from shared.operate.job_sweeps import job_sweeps
from tests.unit.functions.calls import call, use
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep, end, swept_jobs
from tests.unit.world import World


class _Counted:
    """A table that counts what is asked of it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.ranges = self.points = 0

    async def make(self) -> bool:
        return await self.table.make()

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.points += 1
        return await self.table.get(partition, row)

    async def rows(self, key_range: Range) -> list[Row]:
        self.ranges += 1
        return await self.table.rows(key_range)

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        return await self.table.transact(operations)


async def _recorded(world: World, name: str, *, ended: int | None = None, **members: Any) -> JobSweep:
    """A sweep that began `ended` minutes ago, or now, and has ended if a number is given."""
    at = world.now - timedelta(minutes=ended or 0)
    identity: dict[str, Any] = {"key": name, "payload": "p", "door": "http", "source": "http:ann"}
    shape: dict[str, Any] = {"parameters": {"lr": [1, 2]}, "total": 2, "parallel": 1, "experiment": "e"}
    sweep = JobSweep(id=sweep_id(name), name=name, created=at, **{**identity, **shape, **members})
    stored = await world.ports.job_sweeps.create(sweep, {})
    if ended is None:
        return sweep
    after = sweep.after_ends(dict.fromkeys(range(2), JobState.FAILED))
    after = after.model_copy(update={"recorded_jobs": 2, "ended": at})
    assert await world.ports.job_sweeps.end(stored, after, None)
    return after


async def _names(world: World, who: Caller | None = None, **parameters: str) -> list[str]:
    listed = await job_sweeps(world.ports, parameters, who or Caller())
    return [one.name for one in listed.sweeps]


async def test_a_sweep_of_many_jobs_hides_no_other_and_each_has_its_own_numbers(world: World) -> None:
    sweep = await accepted_sweep(world)
    await world.make_pass()
    end(world, (await swept_jobs(world, sweep))[0])
    await world.make_pass()
    await _recorded(world, "wide", total=500, parameters={"x": {"range": [0, 500]}})

    listed = await job_sweeps(world.ports, {})

    lines = {one.name: line(one) for one in listed.sweeps}
    assert lines["wide"]["total"] == 500
    assert lines["tune"]["counts"] == {"succeeded": 1}
    assert (lines["tune"]["total"], lines["tune"]["state"]) == (4, "active")
    assert not listed.more


async def test_active_ones_come_first_and_each_kind_from_its_newest(world: World) -> None:
    await _recorded(world, "ended before", ended=60)
    await _recorded(world, "ended last", ended=5)
    await _recorded(world, "older")
    world.pass_time(60)
    await _recorded(world, "newer")

    assert await _names(world) == ["newer", "older", "ended last", "ended before"]


async def test_of_those_that_ended_it_has_the_ones_since_then(world: World) -> None:
    await _recorded(world, "long ago", ended=8 * 24 * 60)
    await _recorded(world, "hours ago", ended=120)
    await _recorded(world, "goes on")
    since = (world.now - timedelta(hours=1)).isoformat()

    assert await _names(world) == ["goes on", "hours ago"]
    assert await _names(world, since="2w") == ["goes on", "hours ago", "long ago"]
    assert await _names(world, since=since) == ["goes on"]


async def test_callers_have_the_sweeps_that_they_may_see(world: World) -> None:
    await _recorded(world, "of ann")
    await _recorded(world, "of bob", ended=5, source="http:bob", team="vision")
    submits = frozenset({SUBMIT})

    assert await _names(world, Caller("ann", submits)) == ["of ann"]
    assert await _names(world, Caller("mia", submits, teams={"vision": False})) == ["of bob"]
    assert await _names(world, Caller("sam", submits)) == []
    assert await _names(world, Caller("cay", frozenset({READ_ALL}))) == ["of ann", "of bob"]


async def test_more_than_the_limit_are_said_to_be_there(world: World) -> None:
    for number in range(3):
        await _recorded(world, f"n{number}", ended=number + 1)
    await _recorded(world, "goes on")

    some, every = [await job_sweeps(world.ports, {"limit": limit}) for limit in ("2", "4")]

    assert [one.name for one in some.sweeps] == ["goes on", "n0"]
    assert some.more
    assert len(every.sweeps) == 4
    assert not every.more


@pytest.mark.parametrize("parameters", [{"limit": "0"}, {"limit": "201"}, {"since": "yesterday"}])
async def test_other_bounds_are_refused(world: World, parameters: dict[str, str]) -> None:
    with pytest.raises(Misuse):
        await job_sweeps(world.ports, parameters)


@pytest.mark.parametrize(("sees", "points"), [(True, 11), (False, 400)])
async def test_a_list_reads_about_as_many_records_as_it_shows(world: World, sees: bool, points: int) -> None:
    for number in range(450):
        await _recorded(world, f"n{number}", ended=number + 1)
    table = _Counted(world.ledger.table)
    store = ShardedTable(table, world.ledger.shards)
    await store.open()
    world.use(job_sweeps=TableJobSweeps(store))
    table.ranges = table.points = 0

    who = Caller("ann" if sees else "sam", frozenset({SUBMIT}))
    listed = await job_sweeps(world.ports, {"limit": "10"}, who)

    assert len(listed.sweeps) == (10 if sees else 0)
    assert listed.more
    assert (table.ranges, table.points) == (2 * world.ledger.shards, points)


async def test_a_record_that_cannot_be_read_hides_no_other(world: World) -> None:
    spoiled = await _recorded(world, "spoiled")
    await _recorded(world, "whole")
    for key, held in world.ledger.held.items():
        if key[1] == f"w|{spoiled.id}":
            held.row.update({name: "{" for name in held.row if name.startswith("Sweep")})

    assert await _names(world) == ["whole"]
    assert world.ports.troubles.counts() == {"row": 1}


async def test_the_answer_is_a_line_for_each(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    use(world, monkeypatch)
    sweep = await _recorded(world, "tune", ended=5)

    answer = await call("GET", "/api/sweeps?since=1d&limit=5")

    assert json.loads(answer.get_body()) == {"sweeps": [line(sweep)], "more": False}
