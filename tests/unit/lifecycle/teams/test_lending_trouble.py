"""Loans where something is in the way: a crash, a cancelled lender's job, a damaged record, a pause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.errors import Unavailable, Unreadable
from shared.core.job import Job, JobState, Stored
from shared.core.relations.claim import Claim
from shared.core.teams.document import Teams
from shared.core.teams.teams_store import TeamsStore
from shared.core.teams.use import TeamUse
from shared.lifecycle.current_teams import forget_teams
from shared.operate.ends.cancel import cancel
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.lifecycle.teams.test_lending import BORROWER, LENDER, ask, borrow
from tests.unit.world import World


class OneAtATime:
    """A store whose process dies where it would write several records."""

    def __init__(self, teams: TeamsStore) -> None:
        self.get, self.use, self.put_use = teams.get, teams.use, teams.put_use
        self._put = teams.put_uses

    async def put_uses(self, uses: Sequence[TeamUse]) -> Sequence[TeamUse] | None:
        if len(uses) > 1:
            raise Unavailable("the process ends here")
        return await self._put(uses)


def damage(world: World, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the record of the job cannot be read."""
    get = world.ports.ledger.get

    async def spoilt(job_id: str) -> Stored | None:
        if job_id == job.id:
            raise Unreadable(job_id, "damaged")
        return await get(job_id)

    monkeypatch.setattr(world.ports.ledger, "get", spoilt)


async def share(world: World, **quotas: dict[str, Any]) -> None:
    """Teams that lend and borrow."""
    members = {name: {"quota": {"lends": True, "borrows": True, **quota}} for name, quota in quotas.items()}
    stored = await world.ports.teams.get()
    teams = Teams.model_validate({"teams": members})
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def test_a_crash_tears_no_loan_of_a_lender_that_borrows(world: World) -> None:
    await share(world, a={"jobs": 2}, b={"jobs": 1})
    await ask(world, "a", 1)
    [await ask(world, "b", number) for number in (2, 3)]
    whole = world.ports.teams

    world.use(teams=OneAtATime(whole))
    await world.make_pass()

    assert (dict((await whole.use("a")).lent), dict((await whole.use("b")).loans)) == ({}, {})
    world.use(teams=whole)
    await world.make_pass()
    assert [one.team for one in (await whole.use("a")).lent.values()] == ["b"]
    assert [*(await whole.use("b")).loans.values()] == ["a"]


async def test_a_lender_whose_waiting_job_was_cancelled_lends_again(world: World) -> None:
    first, second = await borrow(world)
    third = await ask(world, LENDER, 3)
    await cancel(world.ports, third.id)
    await end(world, second)
    await end(world, first)
    fourth, fifth = [await ask(world, BORROWER, number) for number in (4, 5)]

    await world.make_pass()

    assert await states(world, fourth, fifth) == [JobState.QUEUED] * 2


async def test_a_pause_ends_no_borrowed_attempt(world: World) -> None:
    _, second = await borrow(world)
    await ask(world, LENDER, 3)
    await pause(world.ports, "dan", "maintenance")

    for _ in range(3):
        await world.make_pass()

    assert (await world.job(second.id)).state is JobState.RUNNING


async def test_a_damaged_record_of_a_waiting_job_stops_no_loan_of_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await share(world, a={"jobs": 3}, b={"jobs": 1}, c={"jobs": 1})
    [await ask(world, team, number) for number, team in enumerate("bc")]
    damaged, other = await ask(world, "b", 5), await ask(world, "c", 6)
    damage(world, damaged, monkeypatch)
    await world.make_pass()

    assert await states(world, other) == [JobState.QUEUED]


async def test_a_damaged_record_of_a_lent_job_stops_no_recall_of_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await share(world, a={"jobs": 1}, b={"jobs": 1}, c={"jobs": 1}, d={"jobs": 1})
    [await ask(world, team, number) for number, team in enumerate("cd")]
    damaged, other = await ask(world, "c", 4), await ask(world, "d", 5)
    await world.make_pass()
    assert await states(world, damaged, other) == [JobState.QUEUED] * 2
    lenders = {job: team for team in "ab" for job in (await world.ports.teams.use(team)).lent}
    third = await ask(world, lenders[other.id], 6)
    await ask(world, lenders[damaged.id], 7)
    damage(world, damaged, monkeypatch)
    for _ in range(4):
        await world.make_pass(60)

    assert await states(world, third) == [JobState.QUEUED]


async def test_a_claim_of_a_job_that_does_not_exist_goes_uncounted(world: World) -> None:
    await share(world, a={"jobs": 1})
    use = await world.ports.teams.use("a")
    await world.ports.teams.put_use(replace(use, claims={"j_phantom": Claim(nodes=1, gpus=0)}))
    job = await ask(world, "a", 1)
    assert job.state is JobState.ACCEPTED

    await world.make_pass()

    assert await states(world, job) == [JobState.QUEUED]
    after = await world.ports.teams.use("a")
    assert (set(after.claims), dict(after.months)) == ({job.id}, {})


@pytest.mark.parametrize("rows", ["both", "lender"])
async def test_a_loan_of_a_job_that_does_not_exist_goes_when_its_room_is_needed(
    world: World, rows: str
) -> None:
    await share(world, a={"jobs": 1}, b={"jobs": 1})
    claim = Claim(nodes=1, gpus=0)
    lender = (await world.ports.teams.use("a")).with_loan("j_phantom", "b", claim)
    borrower = replace(
        await world.ports.teams.use("b"), claims={"j_phantom": claim}, loans={"j_phantom": "a"}
    )
    await world.ports.teams.put_uses([lender, borrower] if rows == "both" else [lender])
    job = await ask(world, "a", 1)
    for _ in range(2):
        await world.make_pass()

    assert await states(world, job) == [JobState.QUEUED]
    assert dict((await world.ports.teams.use("a")).lent) == {}
    assert dict((await world.ports.teams.use("b")).claims) == {}
