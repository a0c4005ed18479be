"""A pass leads jobs through the gates: where they wait then, and what a keeper that fails leaves alone."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from shared.admission.pauses import pause
from shared.core.each import AT_ONCE
from shared.core.engine import Observation, Order
from shared.core.errors import Unavailable
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep, swept_jobs
from tests.unit.world import Engines, World, job_json

QUEUED, ACCEPTED = JobState.QUEUED, JobState.ACCEPTED


class Failing:
    """A port, some calls of which fail."""

    def __init__(self, port: Any, error: Exception, *names: str) -> None:
        self._port, self._error, self._names = port, error, names

    def __getattr__(self, name: str) -> Any:
        return self._fail if name in self._names else getattr(self._port, name)

    async def _fail(self, *_: Any) -> Any:
        raise self._error


async def share(world: World, **teams: dict[str, Any]) -> None:
    assert await world.ports.teams.put(Teams.model_validate({"teams": teams}), "") is not None
    forget_teams(world.ports.memo)


async def ask(world: World, name: str, **members: Any) -> Job:
    return (await world.message({"name": name, "spec": job_json(), **members}, name)).job


async def words(world: World, *jobs: Job) -> list[str]:
    waits = [(await world.job(job.id)).waiting for job in jobs]
    return [one.word if one is not None else "" for one in waits]


async def test_after_its_hour_a_job_says_that_it_waits_for_its_teams_quota_and_is_written_once(
    world: World,
) -> None:
    await share(world, vision={"quota": {"jobs": 1}})
    world.policy(max_jobs_per_hour=1)
    first, second = await ask(world, "a", team="vision"), await ask(world, "b", team="vision")
    assert await words(world, first, second) == ["", "HourlyTurn"]

    await world.make_pass(3600)

    waits = (await world.job(second.id)).waiting
    assert waits is not None
    assert waits.text == "waits for its turn in the team vision, whose jobs may have 1 jobs at once"
    before = await world.ledger.get(second.id)
    await world.make_pass()
    assert await world.ledger.get(second.id) == before


async def test_after_its_hour_a_job_says_that_it_waits_for_its_seat(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    sweep = await accepted_sweep(world, parallel=1)
    jobs = await swept_jobs(world, sweep)
    due = [job for job in jobs[1:] if job.slot is not None and job.slot <= world.now + timedelta(hours=1)]
    assert await words(world, *due) == ["HourlyTurn"]

    await world.make_pass(3600)

    assert await words(world, *due) == ["SweepTurn"]


async def test_after_its_hour_a_job_says_that_it_waits_for_a_slot(world: World) -> None:
    world.policy(max_jobs_per_hour=1, max_active_jobs=1)
    jobs = [await ask(world, name) for name in "ab"]
    assert await words(world, *jobs) == ["", "HourlyTurn"]

    await world.make_pass(3600)

    assert await words(world, *jobs) == ["", "ActiveLimit"]


async def test_behind_the_last_of_the_jobs_before_it_a_job_waits_for_the_quota(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 2}})
    await ask(world, "data", team="vision")
    other, next_one = [await ask(world, name, team="vision") for name in ("other", "next")]
    world.pass_time(1)
    follows = await ask(world, "train", team="vision", after=["data"])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await world.make_pass()

    assert await words(world, other, next_one, follows) == ["", "", "TeamQuota"]


async def test_the_words_of_a_quota_that_cannot_be_read_are_without_numbers(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 1}})
    await ask(world, "data", team="vision")
    follows = await ask(world, "train", team="vision", after=["data"])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.use(teams=Failing(world.ports.teams, Unavailable("no answer"), "get"))
    forget_teams(world.ports.memo)

    await world.make_pass()

    after = await world.job(follows.id)
    assert (after.state, after.message) == (ACCEPTED, "waits for its turn in the team vision")


async def test_older_jobs_go_first_whichever_gate_held_them(world: World) -> None:
    """One that waited for others is not behind a younger one that waited for nothing but a slot."""
    world.policy(max_active_jobs=1)
    await ask(world, "data")
    follows = await ask(world, "train", after=["data"])
    world.pass_time(1)
    young = await ask(world, "young")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    for _ in range(2):
        await world.make_pass()

    states = [(await world.job(job.id)).state for job in (follows, young)]
    assert states == [QUEUED, ACCEPTED]


@pytest.mark.parametrize("fails", ["claims", "seats"])
async def test_a_keeper_that_fails_keeps_no_job_at_another_gate(world: World, fails: str) -> None:
    await share(world, vision={"quota": {"jobs": 1}})
    world.policy(paused=True)
    sweep = await accepted_sweep(world, parallel=1)
    plain, claims = await ask(world, "plain"), await ask(world, "claims", team="vision")
    seated = await world.job(sweep.job_id(0))
    world.policy(paused=False)
    port = "teams" if fails == "claims" else "job_sweeps"
    world.use(**{port: Failing(getattr(world.ports, port), ValueError("a defect"), "get", "use")})

    await world.make_pass()

    jobs = {"plain": plain, "claims": claims, "seats": seated}
    states = {name: (await world.job(job.id)).state for name, job in jobs.items()}
    assert states == {name: ACCEPTED if name == fails else QUEUED for name in jobs}


async def test_words_that_cannot_be_said_keep_no_job_waiting(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 1}})
    world.policy(max_jobs_per_hour=1)
    jobs = [await ask(world, name, team="vision") for name in "ab"]
    world.policy(paused=True, max_jobs_per_hour=2)
    free = await ask(world, "free")
    world.policy(paused=False, max_jobs_per_hour=1)
    world.use(teams=Failing(world.ports.teams, Unavailable("no answer"), "get"))
    forget_teams(world.ports.memo)

    await world.make_pass(3600)

    assert (await words(world, *jobs))[1] == "HourlyTurn"
    assert (await world.job(free.id)).state is QUEUED


async def test_a_pause_in_the_middle_of_a_pass_holds_the_rest_of_its_jobs(world: World) -> None:
    class Pauses(MemoryEngine):
        async def submit(self, order: Order) -> Observation | None:
            await pause(world.ports, "ann", "")
            return await super().submit(order)

    world.policy(paused=True)
    jobs = [await ask(world, f"n{number}") for number in range(AT_ONCE + 4)]
    world.policy(paused=False)
    world.use(engines=Engines(Pauses()))

    await world.make_pass()

    states = Counter([(await world.job(job.id)).state for job in jobs])
    assert states[ACCEPTED] >= 4
    assert JobState.SUBMITTING not in states


async def test_while_submissions_are_paused_a_pass_submits_nothing_and_says_nothing_new(world: World) -> None:
    await share(world, vision={"quota": {"jobs": 9}})
    world.policy(paused=True, max_active_jobs=1)
    jobs = [await ask(world, "plain"), await ask(world, "claims", team="vision")]
    before = [await world.ledger.get(job.id) for job in jobs]

    counts = await world.make_pass()

    assert counts.dispatched == 0
    assert [await world.ledger.get(job.id) for job in jobs] == before
