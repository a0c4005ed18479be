"""Jobs of people with a limit of their own in a team: at the door, in a pass, and in what they say."""

from __future__ import annotations

import json

from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.lifecycle.current_teams import forget_teams
from shared.operate.detail import detail
from tests.unit.lifecycle.teams.test_claims import end, states
from tests.unit.world import World, job_json


async def limit(world: World, **per_person: int) -> None:
    stored = await world.ports.teams.get()
    quota = {"jobs": 3, "perPerson": per_person}
    teams = Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": quota}}})
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, who: str, number: int) -> Job:
    """A job that a caller asks for."""
    world.pass_time(1)
    caller = Caller(who, frozenset({SUBMIT}), teams={"vision": False})
    body = json.dumps({"name": f"{who}{number}", "spec": job_json()}).encode()
    request = read_request(body, world.ports.policy.limits)
    result = await request_arrived(
        world.ports, request, door="http", source=caller.source, key=f"{who}{number}", name="", who=caller
    )
    return result.job


async def test_a_person_waits_for_their_own_job_while_others_of_the_team_pass(world: World) -> None:
    await limit(world, jobs=1)
    first, second = await ask(world, "ann", 1), await ask(world, "ann", 2)
    await world.make_pass()
    other = await ask(world, "bob", 1)

    assert await states(world, first, second, other) == [
        JobState.QUEUED,
        JobState.ACCEPTED,
        JobState.QUEUED,
    ]
    shown = await detail(world.ports, second.id, KEY_HOLDER)
    assert shown["waiting"]["word"] == "PersonQuota"
    assert shown["waiting"]["text"] == (
        "waits for another job of the same person to end in the team vision, where each person may have "
        "1 jobs at once"
    )
    assert shown["expectedStart"]["why"] == "it starts after another job of its person has ended"
    writes = (await world.job(second.id)).sequence
    await world.make_pass()
    assert (await world.job(second.id)).sequence == writes

    await end(world, first)
    await world.make_pass()
    assert await states(world, second) == [JobState.QUEUED]


async def test_a_job_whose_person_has_room_again_says_that_it_waits_for_its_team(world: World) -> None:
    await limit(world, jobs=2)
    mine = [await ask(world, "ann", number) for number in range(3)]
    await world.make_pass()
    others = [await ask(world, "bob", number) for number in range(2)]
    await world.make_pass()
    assert await states(world, *mine, *others) == [
        *(JobState.QUEUED, JobState.QUEUED, JobState.ACCEPTED),
        *(JobState.QUEUED, JobState.ACCEPTED),
    ]

    await end(world, mine[0])
    await world.make_pass()

    waits = {(await world.job(one.id)).waiting for one in (mine[2], others[1])} - {None}
    assert [one.word for one in waits if one is not None] == ["TeamQuota"]


async def test_drops_and_messages_count_as_one_person_for_each_door(world: World) -> None:
    await limit(world, jobs=1)
    first, second = [
        (await world.message({"spec": job_json(), "name": f"n{number}"}, f"m{number}")).job
        for number in range(2)
    ]
    other = await ask(world, "ann", 1)

    assert await states(world, first, second, other) == [
        JobState.QUEUED,
        JobState.ACCEPTED,
        JobState.QUEUED,
    ]
