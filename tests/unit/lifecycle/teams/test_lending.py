"""Idle quota that others use: it goes back when its team has a job for it, and nothing is counted twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.errors import Saturated, Unavailable
from shared.core.job import Job, JobState, Reason
from shared.core.teams.document import Teams
from shared.core.teams.teams_store import TeamsStore
from shared.core.teams.use import TeamUse
from shared.lifecycle.archive import archive
from shared.lifecycle.current_teams import forget_teams
from shared.lifecycle.retry import free_attempts
from shared.operate.common_waits import as_it_stands
from shared.operate.ends.cancel import cancel
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.world import World, job_json

JANUARY = "2026-01"


class Unwritable:
    """Claims that can be read only."""

    def __init__(self, teams: TeamsStore) -> None:
        self.get, self.use = teams.get, teams.use

    async def put_use(self, use: TeamUse) -> TeamUse | None:
        raise Unavailable("no answer")

    async def put_uses(self, uses: Sequence[TeamUse]) -> list[TeamUse] | None:
        raise Unavailable("no answer")


BORROWER, LENDER = "speech", "vision"


async def lend(world: World, **lender: Any) -> None:
    """One job at once for each of two teams, of which one lends."""
    quotas = {BORROWER: {"jobs": 1, "borrows": True}, LENDER: {"jobs": 1, "lends": True, **lender}}
    teams = Teams.model_validate({"teams": {name: {"quota": quota} for name, quota in quotas.items()}})
    stored = await world.ports.teams.get()
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, team: str, number: int) -> Job:
    world.pass_time(1)
    return (await world.message({"name": f"n{number}", "team": team, "spec": job_json()}, f"m{number}")).job


async def borrow(world: World) -> tuple[Job, Job]:
    """A job on its own quota, and one that borrows and runs."""
    await lend(world)
    first, second = [await ask(world, BORROWER, number) for number in range(2)]
    await world.make_pass()
    assert await states(world, first, second) == [JobState.QUEUED] * 2
    world.engine.set_state(
        (await world.job(second.id)).fixed_target.name, JobState.RUNNING, started=world.now
    )
    await world.make_pass()
    return first, second


async def rows(world: World) -> tuple[dict[str, str], dict[str, str]]:
    mine, theirs = [await world.ports.teams.use(team) for team in (BORROWER, LENDER)]
    return dict(mine.loans), {job: one.team for job, one in theirs.lent.items()}


async def test_idle_quota_is_lent_and_goes_back_with_the_end_of_the_job(world: World) -> None:
    _, second = await borrow(world)
    assert await rows(world) == ({second.id: LENDER}, {second.id: BORROWER})

    await end(world, second)

    assert await rows(world) == ({}, {})
    assert (await world.ports.teams.use(BORROWER)).months[JANUARY].jobs == 1


async def test_a_lender_s_job_ends_the_attempt_of_the_borrowed_one_which_runs_again_later(
    world: World,
) -> None:
    first, second = await borrow(world)
    third = await ask(world, LENDER, 3)
    assert third.state is JobState.ACCEPTED

    await world.make_pass(600)
    await world.make_pass()
    assert (await world.job(second.id)).attempt == 2
    assert await states(world, second) == [JobState.ACCEPTED]
    await world.make_pass()

    assert await states(world, first, second, third) == [JobState.QUEUED, JobState.ACCEPTED, JobState.QUEUED]
    assert await rows(world) == ({}, {})
    assert (await world.job(second.id)).spent.user == 0
    assert free_attempts(await world.job(second.id)) == 0, "a lender's need is not the job's doing"
    waits = (await as_it_stands(world.ports, await world.job(second.id))).waiting
    assert waits is not None
    assert waits.word == "TeamQuota"
    assert waits.text.startswith("waits for its turn: another team needs the quota that it had lent; ")
    assert waits.text.endswith("it is number 1 in its team's line")
    await end(world, first)
    await world.make_pass()
    assert await states(world, second) == [JobState.QUEUED]
    await end(world, second)
    use = await world.ports.teams.use(BORROWER)
    assert (use.months[JANUARY].jobs, dict(use.claims), dict(use.returned)) == (2, {}, {})
    assert use.months[JANUARY].node_hours == pytest.approx(
        sum(job.usage.node_hours for job in world.ledger.jobs if job.team == BORROWER)
    )
    assert use.months[JANUARY].node_hours > 600 / 3600


async def test_a_job_that_gave_its_room_back_and_is_cancelled_then_is_counted_once(world: World) -> None:
    _, second = await borrow(world)
    await ask(world, LENDER, 3)
    await world.make_pass(3600)
    await world.make_pass()
    await world.make_pass()
    assert list((await world.ports.teams.use(BORROWER)).returned) == [second.id]

    await cancel(world.ports, second.id)
    await world.make_pass()
    await world.make_pass()

    use = await world.ports.teams.use(BORROWER)
    assert dict(use.returned) == {}
    assert use.months[JANUARY].node_hours == pytest.approx((await world.job(second.id)).usage.node_hours)
    assert use.months[JANUARY].node_hours >= 1


async def test_a_borrowed_job_that_its_cluster_does_not_take_gives_its_room_back_at_once(
    world: World,
) -> None:
    await lend(world)
    first, second = [await ask(world, BORROWER, number) for number in range(2)]
    world.engine.fail = [Saturated("full")] * 3
    await world.make_pass()
    assert await states(world, second) == [JobState.SUBMITTING]
    world.engine.fail = []
    third = await ask(world, LENDER, 3)
    await world.make_pass()
    world.engine.fail = [None, Saturated("full")]
    await world.make_pass(301)
    await world.make_pass()

    assert await states(world, first, third) == [JobState.QUEUED] * 2
    job = await world.job(second.id)
    assert job.state is JobState.ACCEPTED
    assert next(one.reason for one in job.history if one.attempt == 2) is Reason.TERMINATED


async def test_a_borrower_with_room_of_its_own_repays_and_loses_nothing(world: World) -> None:
    first, second = await borrow(world)
    await end(world, first)
    await world.make_pass()
    assert await rows(world) == ({}, {})

    third = await ask(world, LENDER, 3)
    await world.make_pass()

    assert await states(world, second, third) == [JobState.RUNNING, JobState.QUEUED]


async def test_an_administrator_s_cancellation_is_no_recall(world: World) -> None:
    _, second = await borrow(world)
    name = (await world.job(second.id)).fixed_target.name

    world.engine.jobs[name] = Observation(JobState.CANCELLED)
    await world.make_pass()

    assert await states(world, second) == [JobState.CANCELLED]
    assert await rows(world) == ({}, {})


async def test_a_claim_that_no_one_freed_is_freed_without_another_job_of_the_team(world: World) -> None:
    await borrow(world)
    whole = world.ports.teams
    for name in list(world.engine.jobs):
        world.engine.set_state(name, JobState.SUCCEEDED)
    world.use(teams=Unwritable(whole))
    await world.make_pass()
    world.use(teams=whole)
    await world.make_pass()
    assert len((await whole.use(BORROWER)).claims) == 2

    await archive(world.ports)

    use = await whole.use(BORROWER)
    assert (dict(use.claims), use.months[JANUARY].jobs) == ({}, 2)
    assert await rows(world) == ({}, {})
