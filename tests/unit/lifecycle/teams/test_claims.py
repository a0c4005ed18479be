"""Jobs of a team with a quota: who waits, who is next, and what a crash or another process leaves."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.engine import Cluster
from shared.core.errors import Unavailable
from shared.core.facts import ClusterFacts
from shared.core.job import Job, JobState, Reason
from shared.core.teams.document import Teams
from shared.core.teams.use import TeamUse
from shared.intake.arrive import message_arrived
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.lifecycle.current_teams import forget_teams
from shared.operate.ends.cancel import cancel
from tests.unit.world import CLUSTER, Engines, World, job_json


async def share(world: World, **quota: float) -> None:
    stored = await world.ports.teams.get()
    teams = Teams.model_validate({"default": "vision", "teams": {"vision": {"quota": quota}}})
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def ask(
    world: World, number: int, nodes: int = 1, *, longest: str | None = None, **members: Any
) -> Job:
    world.pass_time(1)
    limit = {"constraints": {"maxWallClockTime": longest}} if longest else {}
    document = {"name": f"n{number}", "spec": job_json(nodeCount=nodes, **limit), **members}
    return (await world.message(document, f"m{number}")).job


async def states(world: World, *jobs: Job) -> list[JobState]:
    return [(await world.job(one.id)).state for one in jobs]


async def end(world: World, job: Job, state: JobState = JobState.SUCCEEDED) -> None:
    target = (await world.job(job.id)).fixed_target
    how = {"reason": Reason.USER, "exit_code": 1} if state is JobState.FAILED else {}
    world.engine.set_state(target.name, state, **how)
    await world.make_pass()


async def test_a_job_within_the_quota_is_submitted_at_its_door_and_the_next_one_waits(world: World) -> None:
    await share(world, nodes=2)

    first, second = await ask(world, 1, nodes=2), await ask(world, 2)

    assert [first.state, second.state] == [JobState.QUEUED, JobState.ACCEPTED]
    assert second.waiting is not None
    assert second.waiting.word == "TeamQuota"
    assert second.waiting.text == "waits for its turn in the team vision, whose jobs may have 2 nodes at once"
    await world.make_pass()
    assert await states(world, second) == [JobState.ACCEPTED]


async def test_the_end_of_a_job_makes_room_for_the_oldest_and_a_door_lets_none_pass(world: World) -> None:
    await share(world, nodes=2)
    first, large, small = await ask(world, 1), await ask(world, 2, nodes=2), await ask(world, 3)
    await world.make_pass()
    late = await ask(world, 4)

    assert await states(world, large, small, late) == [JobState.ACCEPTED] * 3
    await end(world, first)
    await world.make_pass()
    assert await states(world, large, small, late) == [
        JobState.QUEUED,
        JobState.ACCEPTED,
        JobState.ACCEPTED,
    ]
    await end(world, large)
    await world.make_pass()
    assert await states(world, small, late) == [JobState.QUEUED] * 2


async def test_many_at_once_never_exceed_the_quota(world: World) -> None:
    await share(world, jobs=3)

    jobs = await asyncio.gather(*(world.message({"spec": job_json()}, f"m{n}") for n in range(12)))

    at_work = [one.job for one in jobs if one.job.state is JobState.QUEUED]
    assert 1 <= len(at_work) <= 3
    assert len((await world.ports.teams.use("vision")).claims) <= 3
    await world.make_pass()
    await world.make_pass()
    assert sum(job.state is JobState.QUEUED for job in world.ledger.jobs) == 3


async def test_a_job_larger_than_the_quota_is_rejected_at_its_place(world: World) -> None:
    await share(world, nodes=1)

    job = await ask(world, 1, nodes=2)

    (problem,) = [one for one in job.problems if one["severity"] == "error"]
    assert (problem["code"], problem["pointer"]) == ("SW119", "/spec/properties/nodeCount")
    assert "it may need 2 nodes, and the quota is 1" in problem["message"]


async def test_gpus_are_those_of_the_cluster_s_nodes(world: World) -> None:
    cluster = Cluster(CLUSTER.name, CLUSTER.engine, CLUSTER.id, ClusterFacts(gpus=4))
    world.use(engines=Engines(world.engine, {"dev": cluster}))
    await share(world, gpus=8)

    first, second = await ask(world, 1), await ask(world, 2, nodes=2)

    assert (await world.ports.teams.use("vision")).total("2026-01").gpus == 4
    assert await states(world, first, second) == [JobState.QUEUED, JobState.ACCEPTED]


async def test_a_claim_lasts_over_the_attempts_of_its_job(world: World) -> None:
    await share(world, jobs=1)
    first, second = await ask(world, 1, retry={"user": 1}), await ask(world, 2)

    await end(world, first, JobState.FAILED)
    assert await states(world, first, second) == [JobState.ACCEPTED] * 2
    await world.make_pass(1800)
    assert await states(world, first, second) == [JobState.QUEUED, JobState.ACCEPTED]


async def test_a_waiting_job_that_is_cancelled_claims_nothing(world: World) -> None:
    await share(world, jobs=1)
    first, second, third = await ask(world, 1), await ask(world, 2), await ask(world, 3)

    await cancel(world.ports, second.id)
    await end(world, first)
    await world.make_pass()

    assert await states(world, second, third) == [JobState.CANCELLED, JobState.QUEUED]
    assert set((await world.ports.teams.use("vision")).claims) == {third.id}


async def test_a_claim_that_a_crash_left_is_used(world: World) -> None:
    await share(world, jobs=1)

    class Broken:
        def __init__(self, teams: Any) -> None:
            self.teams = teams
            self.get, self.put, self.use = teams.get, teams.put, teams.use

        async def put_use(self, use: TeamUse) -> TeamUse | None:
            await self.teams.put_use(use)
            raise Unavailable("the answer was lost")

    whole = world.ports.teams
    world.use(teams=Broken(whole))
    job = await ask(world, 1)
    world.use(teams=whole)
    assert job.state is JobState.ACCEPTED
    assert set((await whole.use("vision")).claims) == {job.id}

    await world.make_pass()

    assert await states(world, job) == [JobState.QUEUED]


@pytest.mark.parametrize("quota", [{}, {"jobs": 2}])
async def test_a_larger_quota_or_none_lets_the_waiting_go_on(world: World, quota: dict[str, int]) -> None:
    await share(world, jobs=1)
    jobs = [await ask(world, number) for number in range(2)]
    await share(world, **quota)

    await world.make_pass()

    assert await states(world, *jobs) == [JobState.QUEUED] * 2


async def test_a_lower_quota_ends_nothing(world: World) -> None:
    await share(world, jobs=2)
    jobs = [await ask(world, number) for number in range(2)]
    await share(world, jobs=1)
    third = await ask(world, 3)

    await end(world, jobs[0])
    await world.make_pass()
    assert await states(world, jobs[1], third) == [JobState.QUEUED, JobState.ACCEPTED]
    await end(world, jobs[1])
    await world.make_pass()
    assert await states(world, third) == [JobState.QUEUED]


async def test_a_job_of_a_sweep_needs_its_seat_and_a_claim(world: World) -> None:
    await share(world, jobs=1)
    body = {"name": "tune", "sweep": {"lr": [1, 2, 3]}, "parallel": 2, "spec": job_json()}
    await message_arrived(world.ports, json.dumps(body).encode(), "m1")
    for _ in range(12):
        await world.make_pass()
        at_work = [job for job in world.ledger.jobs if job.state in (JobState.QUEUED, JobState.RUNNING)]
        assert len(at_work) <= 1
        for job in at_work:
            world.engine.set_state(job.fixed_target.name, JobState.SUCCEEDED)

    assert {job.state for job in world.ledger.jobs} == {JobState.SUCCEEDED}


async def test_a_job_that_waits_for_another_claims_only_then(world: World) -> None:
    await share(world, jobs=1)
    first = await ask(world, 1)
    second = await ask(world, 2, after=["n1"])

    assert set((await world.ports.teams.use("vision")).claims) == {first.id}
    await end(world, first)
    await world.make_pass()
    assert await states(world, second) == [JobState.QUEUED]


async def test_while_submissions_are_paused_no_claim_is_made(world: World) -> None:
    await share(world, jobs=1)
    world.policy(paused=True)
    job = await ask(world, 1)
    assert (await world.ports.teams.use("vision")).claims == {}
    world.policy(paused=False)

    await world.make_pass()

    assert await states(world, job) == [JobState.QUEUED]


async def test_without_quotas_nothing_is_asked(world: World) -> None:
    class Silent:
        get = staticmethod(world.ports.teams.get)

        async def use(self, team: str) -> TeamUse:
            raise AssertionError("asked")

    world.use(teams=Silent())
    request = read_request(json.dumps({"spec": job_json()}).encode(), world.ports.policy.limits)
    job = (
        await request_arrived(world.ports, request, door="http", source="http:", key="k", who=KEY_HOLDER)
    ).job
    await world.make_pass()

    assert (job.state, job.claim) == (JobState.QUEUED, None)
