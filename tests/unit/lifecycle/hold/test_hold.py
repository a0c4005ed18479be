"""A job that failed keeps its node for a while: said at once, counted as running, and with its own end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.core.engine import Observation, Order
from shared.core.errors import Transient
from shared.core.job import Job, JobState, Reason
from shared.core.relations.hold import held_end
from shared.core.view import whole
from shared.lifecycle.hold.own_end import with_own_end
from shared.lifecycle.push import jobs_ended
from shared.operate.ends.cancel import cancel
from shared.operate.entry import enter
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.lifecycle.hold.hold_world import HOOK, LENGTH, HoldWorld
from tests.unit.world import job_json

_FAILED = (JobState.FAILED, Reason.USER, 3)


class _Forgets(MemoryEngine):
    """A cluster that knows no job, and takes none."""

    async def submit(self, order: Order) -> Observation | None:
        raise Transient("no answer")


def end_of(job: Job) -> tuple[JobState, Reason | None, int | None]:
    return job.state, job.reason, job.exit_code


async def test_a_failed_job_is_said_to_be_held_and_those_who_asked_for_failures_learn_it_at_once() -> None:
    world = HoldWorld()
    job = await world.held()

    assert job.state is JobState.RUNNING
    assert job.waiting is not None
    until = f"{world.now - timedelta(seconds=60) + LENGTH:%Y-%m-%d %H:%M} UTC"
    sentence = f"failed with exit code 3; its node is kept until {until}"
    assert job.waiting.word == "Held"
    assert job.waiting.text == f"{sentence}: slipway shell {job.id}, slipway release {job.id}"
    assert (job.message, job.last_error) == (sentence, "ValueError: no data")
    assert world.types() == ["held"]
    (event,) = world.events()
    assert event["data"]["state"] == "running"
    assert event["data"]["held"]["exitCode"] == 3
    assert event["data"]["lastError"] == "ValueError: no data"


async def test_it_is_said_once_however_many_passes_there_are() -> None:
    world = HoldWorld()
    job = await world.held()
    for _ in range(3):
        await world.make_pass()

    assert world.types() == ["held"]
    assert (await world.job(job.id)).sequence == job.sequence, "and nothing is written again"


@pytest.mark.parametrize(
    ("events", "expected"), [(["failed"], ["held"]), (["cancelled"], []), (["running"], ["running"])]
)
async def test_the_receivers_of_failures_are_told(events: list[str], expected: list[str]) -> None:
    world = HoldWorld()
    await world.held(notify=[{**HOOK, "events": events}])

    assert world.types() == expected


async def test_the_end_of_its_time_gives_the_end_that_its_command_came_to() -> None:
    world = HoldWorld()
    job = await world.held()
    world.pass_time(1800)
    world.engine.set_state(
        job.fixed_target.name, JobState.FAILED, reason=Reason.USER, exit_code=3, message="exit code 3"
    )
    await world.make_pass()

    ended = await world.job(job.id)
    assert end_of(ended) == _FAILED
    assert ended.usage.node_hours > 0.5, "the time counts for which its node was kept"
    assert world.types() == ["held", "failed"]
    assert "held" not in whole(ended)


@pytest.mark.parametrize(
    "how",
    [
        {"state": JobState.CANCELLED, "reason": Reason.TERMINATED},
        {"state": JobState.FAILED, "reason": Reason.PREEMPTED},
        {"state": JobState.FAILED, "reason": Reason.INFRASTRUCTURE, "message": "its node is gone"},
        {"state": JobState.FAILED, "reason": Reason.INFRASTRUCTURE, "unstarted": True},
        {"state": JobState.FAILED, "reason": Reason.TIMEOUT},
    ],
    ids=["taken away by hand", "preempted", "a lost node", "a run that did not start again", "a limit"],
)
async def test_however_the_hold_ends_the_job_has_its_own_end_and_no_other_attempt(
    how: dict[str, Any],
) -> None:
    world = HoldWorld()
    job = await world.held()
    world.engine.set_state(job.fixed_target.name, **how)
    await world.make_pass()

    ended = await world.job(job.id)
    assert (*end_of(ended), ended.attempt) == (*_FAILED, 1)
    assert ended.message == "Job failed with non-zero exit code"
    assert ended.last_error == "ValueError: no data"
    assert world.types() == ["held", "failed"]


async def test_a_job_that_its_cluster_forgot_while_it_was_held_has_its_own_end() -> None:
    world = HoldWorld()
    job = await world.held()
    world.use(engines=replace(world.ports.engines, engine=_Forgets()))  # type: ignore[type-var]
    for _ in range(9):
        await world.make_pass()

    assert end_of(await world.job(job.id)) == _FAILED


async def test_a_job_that_is_put_back_into_the_queue_does_not_wait_there_for_its_end() -> None:
    world = HoldWorld()
    job = await world.held()
    world.engine.set_state(job.fixed_target.name, JobState.QUEUED)
    for _ in range(3):
        await world.make_pass()

    assert end_of(await world.job(job.id)) == _FAILED


async def test_a_cancelled_job_that_is_held_has_its_own_end() -> None:
    world = HoldWorld()
    job = await world.held()
    job_asked = (await cancel(world.ports, job.id)).job
    assert job_asked.waiting is not None
    assert job_asked.waiting.text.startswith("its hold is over, and its node may be in use until ")
    await world.make_pass()

    assert end_of(await world.job(job.id)) == _FAILED


async def test_a_person_who_enters_a_held_job_learns_until_when_its_node_is_kept() -> None:
    world = HoldWorld()
    job = await world.held()
    held = held_end(job.hold)

    entry = (await enter(world.ports, job.id, 0)).answer

    assert held is not None
    assert entry.held_until == held.until


async def test_only_the_last_attempt_is_held() -> None:
    world = HoldWorld()
    job = await world.running(retry={"user": 1})
    assert [order.hold for order in world.engine.orders] == [timedelta()]
    world.fails(job)
    await world.make_pass()
    assert held_end((await world.job(job.id)).hold) is None, "what a job can write of itself is not enough"

    world.engine.set_state(job.fixed_target.name, JobState.FAILED, reason=Reason.USER, exit_code=3)
    for _ in range(3):
        await world.make_pass(120)

    assert [order.hold for order in world.engine.orders] == [timedelta(), LENGTH]


async def test_a_job_that_did_not_ask_for_it_is_never_looked_at() -> None:
    world = HoldWorld()
    accepted = await world.message({"spec": job_json()})
    job = await world.job(accepted.job.id)
    world.engine.set_state(job.fixed_target.name, JobState.RUNNING)
    await world.make_pass()
    world.fails(job)
    calls = world.engine.calls
    await world.make_pass()

    assert world.engine.calls == calls + 1, "a pass asks for the states alone"
    assert (await world.job(job.id)).hold is None


async def test_no_record_keeps_a_node_for_longer_than_the_job_asked() -> None:
    world = HoldWorld()
    job = await world.running()
    world.fails(job, length=timedelta(days=1000))
    await world.make_pass()

    held = held_end((await world.job(job.id)).hold)
    assert held is not None
    assert held.until == world.now + LENGTH


async def test_a_notice_that_a_record_was_written_finds_it_before_the_next_pass() -> None:
    world = HoldWorld()
    job = await world.running()
    world.fails(job)

    assert await jobs_ended(world.ports, [job.id]) == [job.id]

    assert world.types() == ["held"]


async def test_a_cluster_that_does_not_answer_stops_no_other_job() -> None:
    world = HoldWorld()
    job = await world.running()
    world.fails(job)
    world.engine.fail = [None, Transient("no answer")]
    await world.make_pass()
    assert held_end((await world.job(job.id)).hold) is None

    await world.make_pass()

    assert held_end((await world.job(job.id)).hold) is not None


async def test_an_idle_job_that_is_held_is_neither_warned_nor_ended() -> None:
    world = HoldWorld()
    world.policy(idle_log=600.0, idle_grace=300.0)
    job = await world.held()
    for _ in range(40):
        world.engine.modified = {"stderr.txt": world.now, "usage.jsonl": world.now}
        await world.make_pass()

    assert world.types() == ["held"]
    assert (await world.job(job.id)).idle is None


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED])
async def test_what_is_no_end_without_success_stays_as_it_is(state: JobState) -> None:
    world = HoldWorld()
    job = await world.held()

    assert with_own_end(job, Observation(state)) == Observation(state)
