"""Submissions of which no one knows whether they landed: no end is written while the job may run."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from shared.admission.pauses import pause, resume
from shared.core.engine import Observation, Order
from shared.core.errors import EngineError, Misconfigured, Rejected, Transient
from shared.core.job import Job, JobState
from shared.operate.ends.cancel import cancel
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World, job_json


class Answers(MemoryEngine):
    """Takes every submission, and answers each as the test has scripted it."""

    def script(self, *message: BaseException | None) -> None:
        self.answers = list(message)

    async def submit(self, order: Order) -> Observation | None:
        await super().submit(order)
        if self.answers and (error := self.answers.pop(0)) is not None:
            raise error
        return None


@pytest.fixture
def engine(world: World) -> Answers:
    result = Answers()
    world.engine = result
    world.use(engines=Engines(result))
    return result


async def _submitted(world: World) -> Job:
    return (await world.message(job_json())).job


async def _refused(world: World, engine: Answers, *message: EngineError) -> Job:
    """A job that landed although its first answer was lost, and whose repeated submissions are refused."""
    engine.script(Transient("lost"), *message)
    job = await _submitted(world)
    engine.set_state(engine.started[0], JobState.RUNNING)
    await world.make_pass(700)
    return await world.job(job.id)


async def test_a_job_whose_first_answer_was_lost_is_not_failed_by_a_later_refusal(
    world: World, engine: Answers
) -> None:
    assert (await _refused(world, engine, Rejected("the cluster is being deleted"))).state is JobState.RUNNING


async def test_a_refusal_waits_while_a_lost_try_may_still_land(world: World) -> None:
    refused_and_unknown = [Rejected("no"), None]
    world.engine.fail = [Transient("lost"), *refused_and_unknown * 20]
    job = await _submitted(world)

    await world.make_pass(700)
    waits = await world.job(job.id)
    assert waits.message == "refused, and an earlier submission without an answer may still land: no"
    assert (waits.state, waits.due) == (JobState.SUBMITTING, world.now + timedelta(minutes=5))
    await world.make_pass(2900)  # an hour after the first try
    assert (await world.job(job.id)).state is JobState.SUBMITTING
    await world.make_pass(400)

    ended = await world.job(job.id)
    assert (ended.state, ended.message, world.engine.started) == (JobState.FAILED, "no", [])


async def test_a_refusal_is_no_end_while_no_one_can_tell_what_landed(world: World, engine: Answers) -> None:
    class Mute(Answers):
        async def see(self, target: object) -> Observation:
            raise Transient("no answer")

    mute = Mute()
    world.use(engines=Engines(mute))
    mute.script(Rejected("no"))

    job = await _submitted(world)

    assert (job.state, mute.started) == (JobState.SUBMITTING, [job.target and job.target.name])
    assert job.message == "the engine did not answer (no answer); the call is repeated with the same name"


async def test_a_cancelled_job_whose_door_died_is_not_called_cancelled_while_it_runs(
    world: World, engine: Answers
) -> None:
    engine.script(asyncio.CancelledError(), *[Misconfigured("no role")] * 5)
    with pytest.raises(asyncio.CancelledError):
        await _submitted(world)
    engine.set_state(engine.started[0], JobState.RUNNING)
    (job_id,) = (key[2:] for _, key in world.ledger.rows if key.startswith("j|"))
    await cancel(world.ports, job_id)

    await world.make_pass(700)

    assert engine.jobs[engine.started[0]].state is JobState.CANCELLED  # it was asked to end at once
    await world.make_pass()
    assert (await world.job(job_id)).state is JobState.CANCELLED


async def test_a_job_cancelled_while_its_cluster_was_down_is_ended_as_soon_as_it_is_taken(
    world: World,
) -> None:
    world.engine.fail = [Transient("down")]
    job = await _submitted(world)
    await cancel(world.ports, job.id)

    await world.make_pass(700)

    assert world.engine.jobs[world.engine.started[0]].state is JobState.CANCELLED


async def test_while_paused_a_submission_that_landed_is_watched_and_none_is_repeated(
    world: World, engine: Answers
) -> None:
    engine.script(Transient("lost"))
    job = await _submitted(world)
    await pause(world.ports, "ann", "")
    engine.set_state(engine.started[0], JobState.SUCCEEDED)

    await world.make_pass(700)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(engine.orders) == 1


async def test_while_paused_a_submission_that_never_landed_waits_for_the_resume(world: World) -> None:
    world.engine.fail = [Transient("lost")]
    job = await _submitted(world)
    await pause(world.ports, "ann", "")
    await world.make_pass(700)
    assert ((await world.job(job.id)).state, world.engine.started) == (JobState.SUBMITTING, [])

    await resume(world.ports, "ann")
    await world.make_pass(timedelta(seconds=10).seconds)

    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_what_an_engine_quotes_of_the_document_is_masked(world: World) -> None:
    secret = {"secrets": [{"name": "PASSWORD", "value": "canary-hunter2"}]}
    reports = "400: 'https://acc.blob.core.windows.net/c?sig=canary-signature' and canary-hunter2 are invalid"
    world.engine.fail = [Rejected(reports)]

    job = (await world.message(job_json(**secret))).job

    assert job.state is JobState.FAILED
    assert "are invalid" in job.message
    assert "canary" not in str(world.ledger.rows) + str(world.drops.receipt_files)
