"""Members change teams while their jobs wait, run and end: each job stays with its team to its end."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.caller import SUBMIT, Caller
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.intake.teams import with_teams
from shared.lifecycle.current_teams import forget_teams
from tests.breadth import examples
from tests.crash.invariants.team_claims import over_quota
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.world import World, job_json

PEOPLE = ("ann", "bob")
QUOTAS = {"vision": {"jobs": 2, "lends": True}, "speech": {"jobs": 1, "borrows": True}}
_who, _team = st.sampled_from(PEOPLE), st.sampled_from(sorted(QUOTAS))
ACTS = st.one_of(
    st.tuples(st.just("move"), _who, _team),
    st.tuples(st.just("ask"), _who, st.just("")),
    st.tuples(st.just("end"), _who, st.just("")),
)


async def assign(world: World, teams: dict[str, str]) -> None:
    """Put each person into a team."""
    members = {name: [{"user": who} for who in teams if teams[who] == name] for name in QUOTAS}
    document = {name: {"quota": quota, "members": members[name]} for name, quota in QUOTAS.items()}
    stored = await world.ports.teams.get()
    after = Teams.model_validate({"teams": document})
    assert await world.ports.teams.put(after, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, who: str, number: int, **members: Any) -> Job:
    world.pass_time(1)
    caller = await with_teams(world.ports, Caller(who, frozenset({SUBMIT})))
    document = {"name": f"n{number}", "spec": job_json(), **members}
    request = read_request(json.dumps(document).encode(), world.ports.policy.limits)
    accepted = await request_arrived(
        world.ports, request, door="http", source=caller.source, key=f"k{number}", who=caller
    )
    return accepted.job


async def test_a_waiting_job_runs_on_the_quota_of_the_team_that_its_owner_has_left(world: World) -> None:
    await assign(world, {"ann": "speech"})
    first, second = await ask(world, "ann", 1), await ask(world, "ann", 2, retry={"user": 1})
    await assign(world, {"ann": "vision"})
    third = await ask(world, "ann", 3)
    assert [one.team for one in (first, second, third)] == ["speech", "speech", "vision"]
    assert third.state is JobState.QUEUED

    await end(world, first)
    await end(world, second, JobState.FAILED)  # has another attempt
    await world.make_pass(1800)

    assert await states(world, second, third) == [JobState.QUEUED] * 2
    uses = {team: await world.ports.teams.use(team) for team in QUOTAS}
    assert {team: list(use.claims) for team, use in uses.items()} == {
        "speech": [second.id],
        "vision": [third.id],
    }
    assert await over_quota(world) == []


async def play(acts: list[tuple[str, str, str]]) -> None:
    world, teams, expected = World(), dict.fromkeys(PEOPLE, "vision"), dict[str, str]()
    await assign(world, teams)
    for number, (kind, who, team) in enumerate(acts):
        if kind == "move":
            teams[who] = team
            await assign(world, teams)
        elif kind == "ask":
            job = await ask(world, who, number)
            expected[job.id] = teams[who]
        else:
            await end_oldest(world, f"http:{who}")
        assert await over_quota(world) == []
    while any(not job.state.terminal for job in world.ledger.jobs):
        assert await end_oldest(world, ""), "jobs wait for ever"
        assert await over_quota(world) == []
    await world.make_pass()
    assert {job.id: job.team for job in world.ledger.jobs} == expected
    uses = [await world.ports.teams.use(team) for team in QUOTAS]
    counted = {use.team: sum(one.jobs for one in use.months.values()) for use in uses}
    assert Counter(counted) == Counter(expected.values())
    assert [(dict(use.claims), dict(use.loans), dict(use.lent)) for use in uses] == [({}, {}, {})] * 2


async def end_oldest(world: World, source: str) -> bool:
    """End the oldest job at work of this person, or of all; whether there is one."""
    await world.make_pass()
    jobs = [job for job in world.ledger.jobs if job.target is not None and not job.state.terminal]
    theirs = sorted((job for job in jobs if source in ("", job.source)), key=lambda job: job.created)
    if theirs:
        await end(world, theirs[0])
    return bool(theirs)


@pytest.mark.long
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(ACTS, max_size=20))
def test_every_job_counts_for_the_team_of_its_acceptance_and_none_waits_for_ever(
    acts: list[tuple[str, str, str]],
) -> None:
    asyncio.run(play(acts))
