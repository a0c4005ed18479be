"""A notice that jobs have ended: it saves time, and can do nothing else."""

from __future__ import annotations

import json
from typing import Any

from shared.core.errors import Transient
from shared.core.job import Job, JobState, Reason
from shared.core.messages import ENDED
from shared.intake.arrive import message_arrived
from shared.intake.message import Request, read_message
from shared.jobspec import Limits, has_errors
from tests.doubles.memory import MemoryLedger
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.dropped_folder import drop_folder, status_lines
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


def notice(*jobs: Any) -> bytes:
    event = {"specversion": "1.0", "type": ENDED, "source": "urn:x", "id": "1", "data": {"jobs": list(jobs)}}
    return json.dumps(event).encode()


async def push(world: World, *jobs: str) -> None:
    assert await message_arrived(world.ports, notice(*jobs), "push") == []


async def queued(world: World, **envelope: Any) -> Job:
    return (await world.message({"spec": job_json(), "notify": [HOOK], **envelope})).job


async def by_another_process(world: World) -> None:
    """A pass of which this process remembers nothing."""
    mine = world.ledger
    world.use(ledger=MemoryLedger(world.clock, table=mine.table))
    await world.make_pass(600)
    world.use(ledger=mine)


async def test_the_end_is_reported_without_a_pass(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await push(world, job.id)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert [event["data"]["state"] for event in world.events()] == ["succeeded"]


async def test_a_forged_notice_changes_nothing(world: World) -> None:
    job = await queued(world)
    rows = dict(world.ledger.rows)

    await push(world, job.id, "j_" + "a" * 24)

    assert world.ledger.rows == rows
    assert world.events() == []


async def test_a_late_or_repeated_notice_tells_no_one_twice(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()

    await push(world, job.id)
    await push(world, job.id, job.id)

    assert len(world.events()) == 1


async def test_a_lost_notice_costs_only_the_time_until_the_sweep(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_a_preempted_job_gets_its_next_attempt_and_an_old_notice_does_not_end_it(world: World) -> None:
    job = await queued(world, retry={"infrastructure": 1})
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)

    await push(world, job.id)
    again = await world.job(job.id)
    await push(world, job.id)

    assert (again.state, again.attempt) == (JobState.ACCEPTED, 2)
    assert await world.job(job.id) == again


async def test_an_engine_that_does_not_answer_leaves_it_to_the_sweep(world: World) -> None:
    job = await queued(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.engine.fail = [Transient("down")]

    await push(world, job.id)
    assert (await world.job(job.id)).state is JobState.QUEUED

    await world.make_pass()
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_a_record_that_was_remembered_wrongly_is_read_again(world: World) -> None:
    job = await queued(world)
    other = MemoryLedger(world.clock, table=world.ledger.table)
    stored = await other.get(job.id)
    assert stored is not None
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.use(ledger=other)
    calls = world.engine.calls

    await push(world, job.id)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.events()) == 1
    assert world.engine.calls == calls + 1  # its answer holds for the record as read, too


async def test_a_record_that_was_remembered_rightly_is_read_for_its_receipt_alone(world: World) -> None:
    class Reads(MemoryLedger):
        read = 0

        async def get(self, job_id: str) -> Any:
            self.read += 1
            return await super().get(job_id)

    world.ledger = ledger = Reads(world.clock, table=world.ledger.table)
    world.use(ledger=ledger)
    job = (await world.message({"spec": job_json()})).job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await push(world, job.id)

    assert ledger.read == 1
    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_the_line_of_a_dropped_job_says_at_once_that_another_attempt_follows(world: World) -> None:
    job = await drop_folder(world)
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    assert status_lines(world)[-1] == "queued"

    await push(world, job.id)

    assert status_lines(world)[-1] == "accepted"


async def test_a_record_remembered_from_before_its_submission_is_read_again(world: World) -> None:
    world.policy(paused=True)
    job = await queued(world)
    assert job.target is None
    world.policy(paused=False)
    await by_another_process(world)
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await push(world, job.id)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED


async def test_a_record_remembered_from_the_attempt_before_is_read_again(world: World) -> None:
    job = await queued(world, retry={"infrastructure": 1})
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    for _ in range(2):
        await by_another_process(world)
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)

    await push(world, job.id)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED


def test_what_is_not_a_list_of_job_ids_is_a_request_with_a_problem() -> None:
    wrong = ("x", 5), ("j_' or 1",), tuple(["j_" + "a" * 24] * 1001)
    for jobs in wrong:
        (only,) = read_message(notice(*jobs), Limits())
        assert isinstance(only, Request)
        assert has_errors(only.problems)


async def test_only_the_named_jobs_are_asked_for(world: World) -> None:
    class Counting(MemoryEngine):
        requests = 0

        async def see(self, target: Any) -> Any:
            self.requests += 1
            return await super().see(target)

    world.engine = engine = Counting()
    world.use(engines=type(world.ports.engines)(engine))  # type: ignore[call-arg]
    jobs = [(await world.message({"spec": job_json()}, f"m{n}")).job for n in range(5)]
    for name in engine.started:
        engine.set_state(name, JobState.SUCCEEDED)

    await push(world, jobs[2].id, jobs[2].id)

    assert engine.requests == 1
