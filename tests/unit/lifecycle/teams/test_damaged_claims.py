"""A record of claims that cannot be read stops its own team only, and may be deleted."""

from __future__ import annotations

from shared.core.caller import KEY_HOLDER
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from shared.operate.teams import teams, usage
from tests.unit.lifecycle.teams.test_claims import ask, end, share, states
from tests.unit.lifecycle.test_unreadable import named, spoil
from tests.unit.world import World

VISION = ("teams", "u|vision")


async def _at_work_and_waiting(world: World) -> list[Job]:
    await share(world, jobs=1)
    jobs = [await ask(world, number) for number in range(2)]
    assert await states(world, *jobs) == [JobState.QUEUED, JobState.ACCEPTED]
    return jobs


async def test_the_use_of_the_team_is_not_known_and_the_audit_says_what_to_do(world: World) -> None:
    await _at_work_and_waiting(world)
    name = spoil(world, "u|", Claims0="[")

    (one,) = await usage(world.ports, KEY_HOLDER)

    assert (one.use, one.quota is not None) == (None, True)
    assert "delete it" in one.unknown
    assert (await teams(world.ports)).unknown.keys() == {"vision"}
    assert "no waiting job of its team is submitted" in (await named(world))[name]
    assert "delete it" in (await named(world))[name]


async def test_after_the_record_was_deleted_the_jobs_at_work_are_counted_again(world: World) -> None:
    first, second = await _at_work_and_waiting(world)
    spoil(world, "u|", Claims0="[")
    await world.make_pass()
    assert await states(world, first, second) == [JobState.QUEUED, JobState.ACCEPTED]
    del world.ledger.held[VISION]

    third = await ask(world, 3)
    await world.make_pass()

    assert await states(world, first, second, third) == [JobState.QUEUED, *[JobState.ACCEPTED] * 2]
    await end(world, first)
    await world.make_pass()
    assert await states(world, second, third) == [JobState.QUEUED, JobState.ACCEPTED]
    assert (await world.ports.teams.use("vision")).claims.keys() == {second.id}


async def test_a_lender_whose_record_cannot_be_read_keeps_no_other_team_from_lending(world: World) -> None:
    quotas = {
        "a": {"jobs": 1, "lends": True},
        "b": {"jobs": 1, "lends": True},
        "c": {"jobs": 1, "borrows": True},
    }
    document = {"default": "c", "teams": {name: {"quota": quota} for name, quota in quotas.items()}}
    assert await world.ports.teams.put(Teams.model_validate(document), "") is not None
    forget_teams(world.ports.memo)
    await end(world, await ask(world, 0, team="a"))
    spoil(world, "u|a", Claims0="[")

    jobs = [await ask(world, number) for number in (1, 2)]
    await world.make_pass()

    assert await states(world, *jobs) == [JobState.QUEUED] * 2
    assert (await world.ports.teams.use("c")).loans == {jobs[1].id: "b"}
