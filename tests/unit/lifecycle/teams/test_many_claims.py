"""A pass that gives many claims reads all jobs at once, and gives none to a job that waits for none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.teams import TableTeams
from shared.core.errors import Unavailable
from shared.core.job import Job, JobState
from shared.core.ledger.entries import Active
from shared.core.teams.use import TeamUse
from shared.lifecycle.teams.claims import claimed
from shared.operate.ends.cancel import cancel
from tests.crash.chaos import Chaos, Seam
from tests.doubles.memory import MemoryLedger
from tests.unit.lifecycle.teams.test_claims import share
from tests.unit.lifecycle.test_unreadable import spoil
from tests.unit.world import World, job_json

#: More than are read one by one.
MANY = 70


async def waiting(world: World, number: int) -> list[Job]:
    """So many jobs that wait for a quota which has room for all of them by now; the team has a record."""
    await share(world, jobs=0)
    await world.ports.teams.put_use(TeamUse("vision", {}))
    world.policy(paused=True)
    await share(world, jobs=2 * MANY)
    jobs = [(await world.message({"spec": job_json()}, f"m{index}")).job for index in range(number)]
    world.policy(paused=False)
    return jobs


async def active(world: World) -> list[Active]:
    return [row for shard in range(world.ledger.shards) for row in await world.ports.ledger.active(shard)]


def counted(world: World) -> Chaos:
    """The calls of storage from now on."""
    chaos = Chaos({})
    ledger = MemoryLedger(world.clock, table=Seam(world.ledger.table, "table", chaos))
    world.use(
        ledger=ledger,
        job_sweeps=TableJobSweeps(ledger.store),
        outbox=TableOutbox(ledger.store),
        teams=TableTeams(ledger.store),
    )
    return chaos


@pytest.mark.long
@pytest.mark.parametrize(("number", "ranges", "most_reads"), [(MANY, 5, 4), (20, 1, 24)])
async def test_many_claims_cost_a_query_of_each_shard_and_few_a_read_each(
    world: World, number: int, ranges: int, most_reads: int
) -> None:
    await waiting(world, number)
    rows = await active(world)
    calls = counted(world).calls

    granted = (await claimed(world.ports, rows, rows, set())).claims

    assert len(granted) == number
    assert calls.count("table.rows") == ranges  # one of them opens the table
    assert calls.count("table.get") <= most_reads


async def test_a_job_that_ended_or_cannot_be_read_gets_no_claim_among_many(world: World) -> None:
    jobs = await waiting(world, MANY)
    rows = await active(world)
    await cancel(world.ports, jobs[0].id)
    spoil(world, f"n|{jobs[1].id}", Packed0="no record")

    granted = (await claimed(world.ports, rows, rows, set())).claims

    ids = {job.id for job in jobs[2:]}
    assert granted.keys() == ids
    assert set((await world.ports.teams.use("vision")).claims) == ids


async def test_where_the_query_fails_each_job_is_read(world: World) -> None:
    class Broken(MemoryLedger):
        async def active(self, shard: int) -> list[Active]:
            raise Unavailable("no answer")

    await waiting(world, MANY)
    rows = await active(world)
    world.use(ledger=Broken(world.clock, table=world.ledger.table))

    assert len((await claimed(world.ports, rows, rows, set())).claims) == MANY


async def test_a_team_that_another_process_changed_meanwhile_is_read_again(world: World) -> None:
    jobs = await waiting(world, MANY)
    rows = await active(world)
    whole = world.ports.teams
    put = whole.put_use

    async def late(use: Any) -> Any:
        world.use(teams=whole)
        monkey.undo()
        await cancel(world.ports, jobs[0].id)
        current = await whole.use("vision")
        await put(replace(current, waiting=("another",)))
        return await put(use)

    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr(whole, "put_use", late)
        granted = (await claimed(world.ports, rows, rows, set())).claims

    assert granted.keys() == {job.id for job in jobs[1:]}
    assert jobs[0].id not in (await whole.use("vision")).claims
    assert (await world.job(jobs[0].id)).state is JobState.CANCELLED
