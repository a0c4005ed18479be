"""A slot among the jobs at work: the oldest job of each team has it first, also if it waited for a seat."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep
from tests.unit.lifecycle.test_unreadable import spoil
from tests.unit.world import World, job_json

QUEUED, ACCEPTED = JobState.QUEUED, JobState.ACCEPTED


async def share(world: World, **teams: dict[str, Any]) -> None:
    assert await world.ports.teams.put(Teams.model_validate({"teams": teams}), "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, name: str, team: str = "", **members: Any) -> Job:
    """A second later than the last one."""
    world.pass_time(1)
    document = {"name": name, "spec": job_json(), **members}
    return (await world.message({**document, "team": team} if team else document, name)).job


async def end(world: World, job: Job) -> None:
    world.engine.set_state((await world.job(job.id)).fixed_target.name, JobState.SUCCEEDED)


async def states(world: World, *jobs: Job) -> list[JobState]:
    return [(await world.job(one.id)).state for one in jobs]


async def test_no_door_exceeds_the_limit_for_a_job_with_a_claim(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 9}})
    world.policy(max_active_jobs=2)

    jobs = [await ask(world, f"n{number}", "vision") for number in range(4)]

    assert await states(world, *jobs) == [QUEUED, QUEUED, ACCEPTED, ACCEPTED]
    waits = (await world.job(jobs[2].id)).waiting
    assert waits is not None
    assert (waits.word, waits.text) == (
        "ActiveLimit",
        "waits for its turn: the limit on active jobs (2) is reached",
    )


async def test_a_job_with_a_claim_is_not_overtaken_by_younger_ones_without(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 1}})
    world.policy(max_active_jobs=1)
    first, claimed = await ask(world, "first", "vision"), await ask(world, "claimed", "vision")
    plain = [await ask(world, f"plain{number}") for number in range(3)]
    await end(world, first)

    for _ in range(3):
        await world.make_pass()
        plain.append(await ask(world, f"plain{len(plain)}"))

    assert await states(world, claimed, *plain) == [QUEUED, *[ACCEPTED] * len(plain)]


async def test_a_job_with_a_seat_is_not_overtaken_by_younger_ones_without(world: World) -> None:
    world.policy(max_active_jobs=1)
    first = await ask(world, "first")
    await accepted_sweep(world, parallel=1)
    await world.make_pass()
    plain = [await ask(world, f"plain{number}") for number in range(3)]
    await end(world, first)

    for _ in range(2):
        await world.make_pass()
        plain.append(await ask(world, f"plain{len(plain)}"))

    assert await states(world, *plain) == [ACCEPTED] * len(plain)
    assert sum(job.sweep is not None for job in world.ledger.jobs if job.state is QUEUED) == 1


@pytest.mark.parametrize("team", ["", "vision"])
async def test_a_door_leaves_a_free_slot_to_those_who_wait_for_one(world: World, team: str) -> None:
    await share(world, vision={"quota": {"jobs": 9}})
    world.policy(max_active_jobs=1)
    first, second = await ask(world, "first"), await ask(world, "second", team)
    await end(world, first)
    await world.make_pass()

    late = [await ask(world, "late"), await ask(world, "later", "vision")]
    assert await states(world, second, *late) == [ACCEPTED] * 3
    await world.make_pass()
    assert await states(world, second, *late) == [QUEUED, ACCEPTED, ACCEPTED]


async def test_a_line_that_is_shorter_than_the_free_slots_keeps_no_door_shut(world: World) -> None:
    world.policy(max_active_jobs=3)
    first, *rest = [await ask(world, f"n{number}") for number in range(4)]
    await end(world, first)
    await end(world, rest[0])
    await world.make_pass()

    late = await ask(world, "late")

    assert await states(world, *rest[1:], late) == [QUEUED, ACCEPTED, QUEUED]


async def test_what_a_line_waits_for_is_written_once(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 9}})
    world.policy(max_active_jobs=1)
    await ask(world, "first")
    claimed = await ask(world, "claimed", "vision")
    await world.make_pass()
    before = await world.ledger.get(claimed.id)

    await world.make_pass()

    assert await world.ledger.get(claimed.id) == before


async def test_a_record_that_cannot_be_read_keeps_no_slot_from_the_others(world: World) -> None:
    world.policy(max_active_jobs=1)
    first = await ask(world, "first")
    damaged, behind = await ask(world, "damaged"), await ask(world, "behind")
    spoil(world, f"n|{damaged.id}", Packed0="no record")
    await end(world, first)

    await world.make_pass()
    await world.make_pass()

    assert await states(world, behind) == [QUEUED]
