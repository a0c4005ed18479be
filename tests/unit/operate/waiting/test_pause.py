"""A pause of one job: it is not submitted, keeps nothing from others, says by whom, and goes on after it."""

from __future__ import annotations

from shared.admission.door import admit_next
from shared.admission.gates import JOB_PAUSE, Wait
from shared.core.caller import Caller
from shared.core.job import Job, JobState, Reason
from shared.operate.detail import detail
from shared.operate.ends.cancel import cancel
from shared.operate.waiting.pause import pause_job, resume_job
from tests.unit.lifecycle.teams.test_claims import ask, end, share, states
from tests.unit.world import World, job_json

ANN = Caller("ann")


async def waits_for_quota(world: World) -> Job:
    """A job that waits for another one of its team."""
    await share(world, jobs=1)
    await ask(world, 1)
    return await ask(world, 2)


async def test_a_paused_job_lets_others_pass_and_is_submitted_after_it_is_resumed(world: World) -> None:
    await share(world, jobs=1)
    first, second, third = [await ask(world, number) for number in range(3)]
    await pause_job(world.ports, second.id, "the data is late", ANN)

    await end(world, first)
    await world.make_pass()
    assert await states(world, second, third) == [JobState.ACCEPTED, JobState.QUEUED]

    await resume_job(world.ports, second.id, ANN)
    waits = (await world.job(second.id)).waiting
    assert waits is not None
    assert waits.word == "TeamQuota"
    await end(world, third)
    await world.make_pass()
    assert await states(world, second) == [JobState.QUEUED]
    notes = [entry.note for entry in (await world.job(second.id)).history]
    assert notes[1:3] == ["paused by ann", "resumed by ann"]


async def test_its_reason_says_by_whom_since_when_and_until_when(world: World) -> None:
    job = await waits_for_quota(world)
    since = world.clock()

    await pause_job(world.ports, job.id, "the data is late", ANN)
    world.pass_time(600)
    await world.make_pass()

    shown = await detail(world.ports, job.id, ANN)
    text = "waits until it is resumed: it is paused by ann (the data is late)"
    assert (shown["waiting"]["word"], shown["waiting"]["text"]) == ("JobPaused", text)
    assert shown["waiting"]["since"] == since.isoformat().replace("+00:00", "Z")
    assert shown["expectedStart"] == {"why": "it starts after it is resumed: when that is, is not known"}


async def test_a_job_that_had_its_claim_gives_it_back(world: World) -> None:
    await share(world, jobs=1)
    world.policy(max_active_jobs=1)
    first = await ask(world, 1)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.INFRASTRUCTURE)
    await world.make_pass(1)
    again = await world.job(first.id)
    assert (again.state, again.attempt) == (JobState.ACCEPTED, 2)
    second = await ask(world, 2)

    await pause_job(world.ports, first.id)
    await world.make_pass()
    assert await states(world, first, second) == [JobState.ACCEPTED, JobState.QUEUED]
    assert [*(await world.ports.teams.use("vision")).claims] == [second.id]

    await resume_job(world.ports, first.id)
    await end(world, second)
    await world.make_pass()
    assert await states(world, first) == [JobState.QUEUED]
    assert [*(await world.ports.teams.use("vision")).claims] == [first.id]


async def test_pausing_and_resuming_again_change_nothing(world: World) -> None:
    job = await waits_for_quota(world)

    first = (await pause_job(world.ports, job.id, "a", ANN)).job
    assert (await pause_job(world.ports, job.id, "b", Caller("bob"))).job == first
    resumed = (await resume_job(world.ports, job.id)).job
    assert (await resume_job(world.ports, job.id)).job == resumed
    assert resumed.paused is None


async def test_a_paused_job_can_be_cancelled(world: World) -> None:
    job = await waits_for_quota(world)
    await pause_job(world.ports, job.id)

    ended = (await cancel(world.ports, job.id)).job

    assert (ended.state, ended.paused) == (JobState.CANCELLED, None)


async def test_no_door_submits_a_paused_job(world: World) -> None:
    job = await waits_for_quota(world)
    stored = await pause_job(world.ports, job.id)

    verdict = await admit_next(world.ports, stored)

    assert isinstance(verdict, Wait)
    assert verdict.gate is JOB_PAUSE


async def test_a_resumed_job_is_like_one_that_was_never_paused(world: World) -> None:
    world.policy(paused=True)
    job = (await world.message(job_json())).job

    await pause_job(world.ports, job.id)
    resumed = (await resume_job(world.ports, job.id)).job

    same = {"sequence", "history", "waiting", "message"}
    assert resumed.model_dump(exclude=same) == job.model_dump(exclude=same)
    assert resumed.waiting is None or resumed.waiting.word == "Paused"
    assert "paused by" not in resumed.message
    world.policy(paused=False)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.QUEUED
