"""The document of teams changes while jobs are active, months end, and clocks go back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from tests.crash.invariants.team_claims import over_quota
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.lifecycle.teams.test_lending import ask
from tests.unit.world import World

HOUR = 3600
QUEUED, ACCEPTED, SUCCEEDED = JobState.QUEUED, JobState.ACCEPTED, JobState.SUCCEEDED


async def teams(world: World, **members: dict[str, Any]) -> None:
    stored = await world.ports.teams.get()
    document = Teams.model_validate({"teams": members})
    assert await world.ports.teams.put(document, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def three(world: World, jobs: int) -> list[Job]:
    """Three jobs of a team that may have so many at once."""
    await teams(world, a={"quota": {"jobs": jobs}})
    return [await ask(world, "a", number) for number in range(3)]


async def test_a_quota_that_is_lowered_below_its_use_ends_nothing_and_gives_nothing(world: World) -> None:
    first, second, third = await three(world, 2)
    await teams(world, a={"quota": {"jobs": 1}})
    await world.make_pass()
    assert await states(world, first, second, third) == [QUEUED, QUEUED, ACCEPTED]

    await end(world, first)
    await world.make_pass()
    assert await states(world, second, third) == [QUEUED, ACCEPTED]
    await end(world, second)
    await world.make_pass()
    assert await states(world, third) == [QUEUED]
    assert await over_quota(world) == []


async def test_a_team_that_is_removed_keeps_its_jobs_which_all_run_and_are_counted(world: World) -> None:
    jobs = await three(world, 1)
    await teams(world, b={})
    for _ in range(3):
        await world.make_pass()
        for job in jobs:
            if (await world.job(job.id)).state is QUEUED:
                await end(world, job)

    assert await states(world, *jobs) == [SUCCEEDED] * 3
    use = await world.ports.teams.use("a")
    assert (dict(use.claims), use.waiting, use.months["2026-01"].jobs) == ({}, (), 3)


async def test_a_quota_that_is_taken_away_lets_all_that_wait_run(world: World) -> None:
    jobs = await three(world, 1)
    await teams(world, a={})

    await world.make_pass()

    assert await states(world, *jobs) == [QUEUED] * 3


async def test_a_job_that_runs_over_the_end_of_a_month_is_counted_once_in_the_month_of_its_end(
    world: World,
) -> None:
    world.now = datetime(2026, 1, 31, 23, 0, tzinfo=UTC)
    first, second, _ = await three(world, 1)
    world.engine.set_state((await world.job(first.id)).fixed_target.name, JobState.RUNNING)
    await world.make_pass()
    world.now = datetime(2026, 2, 1, 1, 0, tzinfo=UTC)

    await end(world, first)
    await world.make_pass()

    use = await world.ports.teams.use("a")
    assert {month: one.jobs for month, one in use.months.items()} == {"2026-02": 1}
    assert use.months["2026-02"].node_hours == (await world.job(first.id)).usage.node_hours > 1.9
    assert await states(world, second) == [QUEUED]


async def test_a_clock_that_goes_back_over_the_end_of_a_month_counts_each_job_once(world: World) -> None:
    world.now = datetime(2026, 2, 1, 0, 30, tzinfo=UTC)
    first, second, third = await three(world, 1)
    await end(world, first)
    await world.make_pass()
    world.now = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)

    await end(world, second)
    await world.make_pass(2 * HOUR)  # the last one is not due before it came
    await end(world, third)
    await world.make_pass()

    use = await world.ports.teams.use("a")
    assert sum(one.jobs for one in use.months.values()) == 3
    assert dict(use.claims) == {}
    assert await over_quota(world) == []


@pytest.mark.parametrize("year", [1999, 2099])
async def test_a_cluster_with_a_wrong_clock_keeps_no_job_out_of_the_month_that_its_end_came_in(
    world: World, year: int
) -> None:
    first, _, _ = await three(world, 1)
    wrong = datetime(year, 1, 1, tzinfo=UTC)
    target = (await world.job(first.id)).fixed_target
    times = {"started": wrong - timedelta(hours=1), "ended": wrong}
    world.engine.set_state(target.name, SUCCEEDED, **times)

    await world.make_pass()

    assert (await world.job(first.id)).ended == wrong
    use = await world.ports.teams.use("a")
    assert {month: (one.jobs, one.node_hours) for month, one in use.months.items()} == {"2026-01": (1, 1.0)}
