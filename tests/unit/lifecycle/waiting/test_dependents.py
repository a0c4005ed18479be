"""Jobs that wait for the end of others: released once it is as they need it, cancelled once it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import Range, Row, VersionedRow
from shared.admission.gates import DEPENDENCY, Wait
from shared.admission.pauses import pause, resume
from shared.core.errors import Transient
from shared.core.job import Job, JobState, Reason
from shared.operate.ends.cancel import cancel
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.unit.lifecycle.permits import verdict_of
from tests.unit.world import World, job_json

HOOK = {"url": "https://hooks.example.com/slipway"}


async def _job(world: World, name: str, **members: Any) -> Job:
    accepted = await world.message({"spec": job_json(), "name": name, "notify": [HOOK], **members}, name)
    return accepted.job


async def _end(world: World, job: Job, state: JobState = JobState.SUCCEEDED) -> None:
    """The cluster ends the job, and a pass sees that."""
    target = (await world.job(job.id)).target
    assert target is not None
    world.engine.set_state(target.name, state)
    await world.make_pass()


async def test_a_dependent_waits_says_for_what_and_is_submitted_after_the_success(world: World) -> None:
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"])

    assert second.state is JobState.ACCEPTED
    assert second.target is None
    assert second.waiting is not None
    assert second.waiting.word == "Dependency"
    assert second.waiting.text == f"waits for data ({first.id}) to succeed"
    assert second.waiting.since == second.created
    await world.make_pass()
    assert len(world.engine.started) == 1

    await _end(world, first)

    after = await world.job(second.id)
    assert after.state is JobState.QUEUED
    assert after.waiting is None
    assert len(world.engine.started) == 2
    assert [one.met for one in after.dependencies] == [True]


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
async def test_when_the_other_does_not_succeed_the_dependent_is_cancelled_and_reported(
    world: World, state: JobState
) -> None:
    first = await _job(world, "data")
    second = await _job(world, "train", after=[first.id])

    await _end(world, first, state)

    after = await world.job(second.id)
    assert (after.state, after.reason) == (JobState.CANCELLED, Reason.DEPENDENCY)
    assert f"data ({first.id}) ended {state.value}" in after.message
    ends = [event for event in world.events() if event["subject"] == f"jobs/{second.id}"]
    assert [event["data"]["reason"] for event in ends] == ["dependency"]
    assert world.receipt(after)["state"] == "cancelled"
    assert len(world.engine.started) == 1


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
async def test_after_failure_runs_when_the_other_ends_otherwise(world: World, state: JobState) -> None:
    first = await _job(world, "data")
    second = await _job(world, "clean", afterFailure=["data"])
    assert second.waiting is not None
    assert second.waiting.text == f"waits for data ({first.id}) to end without success"

    await _end(world, first, state)

    assert (await world.job(second.id)).state is JobState.QUEUED


async def test_after_failure_is_cancelled_when_the_other_succeeds(world: World) -> None:
    first = await _job(world, "data")
    second = await _job(world, "clean", afterFailure=["data"])

    await _end(world, first)

    after = await world.job(second.id)
    assert (after.state, after.reason) == (JobState.CANCELLED, Reason.DEPENDENCY)
    assert f"data ({first.id}) succeeded" in after.message


async def test_a_job_waits_for_all_that_it_names_and_says_what_is_left(world: World) -> None:
    first, other = await _job(world, "one"), await _job(world, "two")
    last = await _job(world, "three", after=["one", "two"])
    assert last.waiting is not None
    assert last.waiting.text == f"waits for one ({first.id}) to succeed, and for 1 more job"

    await _end(world, first)

    halfway = await world.job(last.id)
    assert halfway.state is JobState.ACCEPTED
    assert halfway.waiting is not None
    assert halfway.waiting.text == f"waits for two ({other.id}) to succeed"
    assert halfway.waiting.since == last.created
    assert [one.met for one in halfway.dependencies] == [True, False]

    await _end(world, other)

    assert (await world.job(last.id)).state is JobState.QUEUED


async def test_what_has_ended_as_it_has_to_is_not_waited_for(world: World) -> None:
    first = await _job(world, "data")
    await _end(world, first)

    second = await _job(world, "train", after=["data"])

    assert second.state is JobState.QUEUED
    assert [one.met for one in second.dependencies] == [True]


async def test_what_can_no_longer_hold_is_cancelled_by_the_door_itself(world: World) -> None:
    first = await _job(world, "data")
    await _end(world, first, JobState.FAILED)

    second = await _job(world, "train", after=["data"])

    assert (second.state, second.reason) == (JobState.CANCELLED, Reason.DEPENDENCY)
    assert [event["data"]["state"] for event in world.events()][-1] == "cancelled"
    assert len(world.engine.started) == 1


async def test_a_rejected_job_counts_as_one_that_did_not_succeed(world: World) -> None:
    await world.message({"spec": job_json(nodeCount=-1), "name": "data"}, "m0")

    assert (await _job(world, "train", after=["data"])).reason is Reason.DEPENDENCY
    assert (await _job(world, "clean", afterFailure=["data"])).state is JobState.QUEUED


async def test_one_end_ends_a_whole_chain_in_one_pass_and_starts_what_waits_for_that(world: World) -> None:
    first = await _job(world, "j0")
    chain = [await _job(world, f"j{n}", after=[f"j{n - 1}"]) for n in range(1, 6)]
    clean = await _job(world, "clean", afterFailure=["j5"])

    await _end(world, first, JobState.FAILED)

    states = [(await world.job(job.id)).reason for job in chain]
    assert states == [Reason.DEPENDENCY] * 5
    assert (await world.job(clean.id)).state is JobState.QUEUED


async def test_a_job_with_two_conditions_of_which_a_chain_meets_both_is_released_in_one_sweep(
    world: World,
) -> None:
    first = await _job(world, "a")
    await _job(world, "b", after=["a"])
    last = await _job(world, "c", afterFailure=["a", "b"])

    await _end(world, first, JobState.FAILED)

    assert (await world.job(last.id)).state is JobState.QUEUED


async def test_a_new_attempt_of_the_other_is_no_end(world: World) -> None:
    first = await _job(world, "data", retry={"user": 1})
    second = await _job(world, "train", afterFailure=["data"])
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()

    assert (await world.job(first.id)).attempt == 2
    assert (await world.job(second.id)).state is JobState.ACCEPTED


async def test_an_attempt_after_the_first_waits_for_no_other_job(world: World) -> None:
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"], retry={"user": 1})
    await _end(world, first)
    world.engine.set_state(world.engine.started[1], JobState.FAILED, reason=Reason.USER)
    await world.make_pass()
    await world.make_pass(1000)

    assert len(world.engine.started) == 3
    assert (await world.job(second.id)).attempt == 2


async def test_a_job_that_waits_can_be_cancelled_and_those_behind_it_go_with_it(world: World) -> None:
    await _job(world, "data")
    second = await _job(world, "train", after=["data"])
    third = await _job(world, "test", after=["train"])

    await cancel(world.ports, second.id)
    await world.make_pass()

    assert (await world.job(second.id)).reason is Reason.TERMINATED
    assert (await world.job(third.id)).reason is Reason.DEPENDENCY


async def test_while_submissions_are_paused_a_released_job_waits_for_them(world: World) -> None:
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"])
    await pause(world.ports, "ops", "")
    await _end(world, first)
    held = await world.job(second.id)
    assert (held.state, held.unmet) == (JobState.ACCEPTED, ())

    await resume(world.ports, "ops")
    await world.make_pass()

    assert (await world.job(second.id)).state is JobState.QUEUED


async def test_released_jobs_respect_the_limit_of_active_jobs(world: World) -> None:
    world.policy(max_active_jobs=2)
    first = await _job(world, "data")
    waits = [await _job(world, f"t{n}", after=["data"]) for n in range(4)]

    await _end(world, first)

    assert len(world.engine.started) == 2  # the one that ended still counts in this pass
    await world.make_pass()
    assert len(world.engine.started) == 3
    await world.make_pass()
    states = [(await world.job(job.id)).state.value for job in waits]
    assert sorted(states) == ["accepted", "accepted", "queued", "queued"]


async def test_a_job_that_waits_for_others_takes_no_place_among_the_active_jobs(world: World) -> None:
    world.policy(max_active_jobs=2)
    await _job(world, "data")
    waits = await _job(world, "train", after=["data"])

    assert (await _job(world, "other")).state is JobState.QUEUED
    assert waits.waiting is not None
    assert waits.waiting.word == "Dependency"


async def test_a_dependent_keeps_its_turn_within_the_hour(world: World) -> None:
    world.policy(max_jobs_per_hour=1)
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"])
    assert second.waiting is not None
    assert second.waiting.word == "Dependency"
    await _end(world, first)
    held = await world.job(second.id)
    assert held.waiting is not None
    assert (held.state, held.waiting.word) == (JobState.ACCEPTED, "HourlyTurn")

    await world.make_pass(3600)

    assert (await world.job(second.id)).state is JobState.QUEUED


async def test_a_process_with_an_old_row_does_not_submit_what_waits(world: World) -> None:
    await _job(world, "data")
    second = await _job(world, "train", after=["data"])

    verdict = await verdict_of(world, second.id)

    assert isinstance(verdict, Wait)
    assert verdict.gate is DEPENDENCY


async def test_an_archived_job_counts_as_it_ended(world: World) -> None:
    from shared.lifecycle.archive import archive

    first = await _job(world, "data")
    await _end(world, first)
    world.pass_time(40 * 24 * 3600)
    await archive(world.ports)
    assert (await world.job(first.id)).archived

    second = await _job(world, "train", after=[first.id])
    third = await _job(world, "clean", afterFailure=[first.id])

    assert second.state is JobState.QUEUED
    assert third.reason is Reason.DEPENDENCY


async def test_what_the_engine_refuses_in_this_pass_is_judged_in_this_pass_or_the_next(
    world: World,
) -> None:
    world.engine.fail = [Transient("later")]
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"])
    await cancel(world.ports, first.id)
    await world.make_pass(600)
    await world.make_pass(600)
    await world.make_pass()

    assert (await world.job(first.id)).state is JobState.CANCELLED
    assert (await world.job(second.id)).reason is Reason.DEPENDENCY


# What it costs


class _Counting(MemoryTable):
    """Counts requests for rows of jobs: by their keys, and ranges of active jobs alone."""

    reads = 0
    ranges = 0

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.reads += partition.startswith("s")
        return await super().get(partition, row)

    async def rows(self, key_range: Range) -> list[Row]:
        self.ranges += (key_range.first, key_range.last) == ("n|", "n}")
        return await super().rows(key_range)


@pytest.fixture
def table(world: World) -> _Counting:
    table = _Counting(world.clock)
    world.ledger = MemoryLedger(world.clock, table=table)
    world.outbox = TableOutbox(world.ledger.store)
    world.use(ledger=world.ledger, outbox=world.outbox)
    return table


async def test_a_pass_reads_nothing_for_jobs_that_wait_for_active_ones(
    world: World, table: _Counting
) -> None:
    await _job(world, "data")
    for n in range(10):
        await _job(world, f"t{n}", after=["data"])
    table.reads = 0

    await world.make_pass()

    assert (table.reads, table.ranges) == (0, 0)


async def test_an_end_is_read_once_for_all_who_wait_for_it_and_never_again(
    world: World, table: _Counting
) -> None:
    await _job(world, "long")
    reads = []
    for number in (1, 10):
        first = await _job(world, f"data{number}")
        for n in range(number):
            await _job(world, f"t{number}-{n}", after=[first.id, "long"])
        table.reads = 0
        await _end(world, first)
        reads.append(table.reads)

    assert reads[0] == reads[1]
    table.reads = 0
    for _ in range(3):
        await world.make_pass()
    assert table.reads == 0


async def test_a_record_that_cannot_be_read_keeps_its_dependent_waiting(world: World) -> None:
    first = await _job(world, "data")
    second = await _job(world, "train", after=["data"])
    await cancel(world.ports, first.id)
    await _end(world, first, JobState.SUCCEEDED)
    other = await _job(world, "test", after=["train"])
    world.engine.set_state(world.engine.started[1], JobState.SUCCEEDED)
    key = next(key for key in world.ledger.held if key[1] == f"n|{second.id}")
    held = world.ledger.held[key]
    world.ledger.held[key] = replace_row(held, {**held.row, "Packed0": "damaged"})

    await world.make_pass()

    assert (await world.job(other.id)).state is JobState.ACCEPTED


def replace_row(held: VersionedRow, row: Row) -> VersionedRow:
    return replace(held, row=row)
