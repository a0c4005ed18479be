"""Parts of the sweep that share a team's quota: the oldest of all its waiting jobs is next, in any shard."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.storage.rows import shard_of
from shared.core.job import Job, JobState
from shared.core.ledger.records import Active
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from shared.lifecycle.sweep import sweep
from shared.operate.cancel import cancel
from tests.breadth import examples
from tests.crash.invariants.team_claims import over_quota
from tests.unit.lifecycle.teams.test_claims import ask, share, states
from tests.unit.world import World

PARTS = 2


def part_of(world: World, job: Job) -> int:
    return shard_of(job.id, world.ledger.shards) % PARTS


async def sweep_part(world: World, part: int, seconds: float = 30) -> None:
    world.pass_time(seconds)
    await sweep(world.ports, range(part, world.ledger.shards, PARTS))


async def sweep_parts(world: World) -> None:
    for part in range(PARTS):
        await sweep_part(world, part)


async def finish(world: World, job: Job) -> None:
    """End it on its cluster; its part has not swept yet."""
    world.engine.set_state((await world.job(job.id)).fixed_target.name, JobState.SUCCEEDED)


async def ask_in(world: World, part: int, start: int, nodes: int) -> Job:
    """A job of this part: its shard comes of its id."""
    for number in range(start, start + 100):
        job = await ask(world, number, nodes)
        if part_of(world, job) == part:
            return job
        await cancel(world.ports, job.id)
    raise AssertionError("no id is in that part")


async def test_small_jobs_of_one_part_do_not_pass_a_large_older_one_of_another(world: World) -> None:
    await share(world, nodes=2)
    first = await ask(world, 0, nodes=2)
    mine, other = part_of(world, first), 1 - part_of(world, first)
    large = await ask_in(world, other, 1, nodes=2)
    small = [await ask_in(world, part, 100 * number, 1) for number, part in enumerate((mine, other, mine), 2)]
    await sweep_parts(world)

    await finish(world, first)
    for part in (mine, mine, other):
        await sweep_part(world, part)

    assert await states(world, first, large) == [JobState.SUCCEEDED, JobState.QUEUED]
    assert set(await states(world, *small)) == {JobState.ACCEPTED}
    use = await world.ports.teams.use("vision")
    assert (set(use.claims), use.waiting) == ({large.id}, tuple(job.id for job in small))


@pytest.mark.parametrize("borrows", [False, True])
async def test_a_team_that_borrows_keeps_the_order_on_its_own_quota(world: World, borrows: bool) -> None:
    await share(world, nodes=2, borrows=borrows)
    busy = await ask(world, 0)
    mine, other = part_of(world, busy), 1 - part_of(world, busy)
    large, small = await ask_in(world, other, 1, nodes=2), await ask_in(world, mine, 200, nodes=1)
    await sweep_parts(world)

    for _ in range(2):
        await sweep_part(world, mine)
        assert await states(world, large, small) == [JobState.ACCEPTED] * 2

    await finish(world, busy)
    for part in (mine, other):
        await sweep_part(world, part)
    assert await states(world, large, small) == [JobState.QUEUED, JobState.ACCEPTED]


async def test_no_loan_is_recalled_for_a_job_that_is_not_next(world: World) -> None:
    quotas = {"vision": {"nodes": 3, "lends": True}, "speech": {"nodes": 1, "borrows": True}}
    teams = {"default": "vision", "teams": {name: {"quota": quota} for name, quota in quotas.items()}}
    assert await world.ports.teams.put(Teams.model_validate(teams), "") is not None
    forget_teams(world.ports)
    own, lent = await ask(world, 0, nodes=2), [await ask(world, n, team="speech") for n in (1, 2)]
    await sweep_parts(world)
    assert await states(world, own, *lent) == [JobState.QUEUED] * 3
    mine = part_of(world, own)
    large = await ask_in(world, 1 - mine, 3, nodes=3)
    await sweep_parts(world)
    small = await ask_in(world, mine, 200, nodes=1)

    await sweep_parts(world)
    await sweep_parts(world)

    assert await states(world, own, *lent, large, small) == [*[JobState.QUEUED] * 3, *[JobState.ACCEPTED] * 2]
    assert not [job.id for job in world.ledger.jobs if job.is_recalled]


async def test_a_pass_reads_the_other_parts_once_for_all_teams(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("vision", "speech", "text")
    teams = {"default": "vision", "teams": {name: {"quota": {"nodes": 1}} for name in names}}
    assert await world.ports.teams.put(Teams.model_validate(teams), "") is not None
    forget_teams(world.ports)
    for number in range(30):
        await ask(world, number, team=names[number % 3])
    await sweep_parts(world)
    reads, active = list[int](), world.ledger.active

    async def counted(shard: int) -> list[Active]:
        reads.append(shard)
        return await active(shard)

    monkeypatch.setattr(world.ledger, "active", counted)
    await sweep_part(world, 0)

    assert sorted(set(reads)) == list(range(world.ledger.shards))
    assert len(reads) <= world.ledger.shards * 3 // 2, "its own shards, and all of them once"


async def test_a_job_of_another_part_that_was_cancelled_keeps_nothing_from_those_behind_it(
    world: World,
) -> None:
    await share(world, nodes=1)
    first, second, *rest = [await ask(world, number) for number in range(12)]
    last = next(job for job in rest if part_of(world, job) != part_of(world, second))
    await sweep_parts(world)
    for job in (second, *rest):
        if job is not last:
            await cancel(world.ports, job.id)

    await finish(world, first)
    await sweep_parts(world)
    await sweep_parts(world)

    assert await states(world, first, second, last) == [
        JobState.SUCCEEDED,
        JobState.CANCELLED,
        JobState.QUEUED,
    ]


async def sweep_in_order(world: World, part: int) -> None:
    """A pass of one part, in which no job of the team's line is passed by a younger one."""
    before = await world.ports.teams.use("vision")
    await sweep_part(world, part)
    after = await world.ports.teams.use("vision")
    created = {job.id: job.created for job in world.ledger.jobs}
    youngest = max((created[job] for job in after.claims.keys() - before.claims.keys()), default=None)
    waiting = [job for job in before.waiting if job in after.waiting]
    assert youngest is None or all(created[job] > youngest for job in waiting)


async def play(acts: Sequence[tuple[str, int]], *, borrows: bool) -> None:
    """Parts in any order, with jobs that come and end between them; then all at work end, pass after pass."""
    world, jobs = World(), list[Job]()
    await share(world, nodes=3, borrows=borrows)
    for number, (kind, size) in enumerate(acts):
        if kind == "ask":
            jobs.append(await ask(world, number, nodes=size))
        elif kind == "part":
            await sweep_in_order(world, size % PARTS)
        elif at_work := [job for job in world.ledger.jobs if job.target and not job.state.terminal]:
            await finish(world, at_work[size % len(at_work)])
        assert await over_quota(world) == []
    await sweep_parts(world)
    for _ in range(2 * len(jobs) + 2):
        assert await over_quota(world) == []
        for job in [job for job in world.ledger.jobs if job.target and not job.state.terminal]:
            await finish(world, job)
        for part in range(PARTS):
            await sweep_in_order(world, part)
    assert set(await states(world, *jobs)) <= {JobState.SUCCEEDED}


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["ask", "ask", "part", "end"]), st.integers(1, 3)), max_size=25),
    st.booleans(),
)
def test_parts_exceed_no_quota_and_every_job_has_its_turn(acts: list[tuple[str, int]], borrows: bool) -> None:
    asyncio.run(play(acts, borrows=borrows))
