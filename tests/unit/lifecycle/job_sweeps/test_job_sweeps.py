"""Jobs of a job sweep: recorded at once, as many at work as allowed, and one report at the end."""

from __future__ import annotations

import pytest

from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.outbox import TableOutbox
from shared.admission.gates import SEAT, Wait
from shared.admission.pauses import pause, resume
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.intake.arrive import message_arrived
from shared.operate.job_sweeps import cancel_sweep, job_sweep
from tests.crash.chaos import Chaos, Seam
from tests.crash.invariants.swept_jobs import too_many_at_work
from tests.doubles.memory import MemoryLedger
from tests.unit.lifecycle.job_sweeps.swept import (
    accepted_sweep,
    end,
    reported_ends,
    sweep_message,
    swept_jobs,
)
from tests.unit.lifecycle.permits import verdict_of
from tests.unit.world import World, job_json


async def test_each_combination_is_a_job_with_its_values_in_the_command_and_in_the_environment(
    world: World,
) -> None:
    sweep = await accepted_sweep(world)

    jobs = await swept_jobs(world, sweep)
    assert [job.name for job in jobs] == ["tune-0", "tune-1", "tune-2", "tune-3"]
    assert {job.experiment for job in jobs} == {"tune"}
    assert [job.sweep.values for job in jobs if job.sweep] == [
        {"lr": 0.1, "seed": 0},
        {"lr": 0.1, "seed": 1},
        {"lr": 0.01, "seed": 0},
        {"lr": 0.01, "seed": 1},
    ]
    spec = await world.ledger.spec(jobs[2].id)
    assert spec is not None
    assert spec["properties"]["customToolkitSettings"]["commandLine"] == "python train.py --lr 0.01 --seed 0"
    assert spec["properties"]["environmentVariables"] == [
        {"name": "SLIPWAY_SWEEP_LR", "value": "0.01"},
        {"name": "SLIPWAY_SWEEP_SEED", "value": "0"},
    ]


async def test_no_more_jobs_than_allowed_are_at_work_and_the_others_say_why_they_wait(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=3)
    await world.make_pass()

    states = [job.state for job in await swept_jobs(world, sweep)]
    assert states == [JobState.QUEUED] * 3 + [JobState.ACCEPTED]
    waits = (await world.job(sweep.job_id(3))).waiting
    assert waits is not None
    assert waits.word == "SweepTurn"
    assert waits.text == "waits for its turn in its sweep: at most 3 of its jobs run at once"
    verdict = await verdict_of(world, sweep.job_id(3), seats={sweep.job_id(2)})
    assert isinstance(verdict, Wait)
    assert verdict.gate is SEAT

    end(world, await world.job(sweep.job_id(1)))
    await world.make_pass()

    assert (await world.job(sweep.job_id(3))).state is JobState.QUEUED
    assert too_many_at_work(world) == []
    stored = await job_sweep(world.ports, sweep.id)
    assert sorted(stored.sweep.seats) == [0, 2, 3]
    assert stored.sweep.counts == {JobState.SUCCEEDED: 1}


async def test_a_job_between_two_attempts_keeps_its_place(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1, retry={"user": 1})
    await world.make_pass()
    end(world, await world.job(sweep.job_id(0)), JobState.FAILED)
    await world.make_pass()

    states = [job.state for job in await swept_jobs(world, sweep)]
    assert JobState.ACCEPTED in states
    assert len([state for state in states if state not in (JobState.ACCEPTED, JobState.FAILED)]) <= 1
    assert too_many_at_work(world) == []


async def test_the_end_of_all_jobs_is_reported_once_with_their_counts(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=4)
    await world.make_pass()
    for index, job in enumerate(await swept_jobs(world, sweep)):
        end(world, job, JobState.SUCCEEDED if index else JobState.CANCELLED)
    await world.make_pass()
    await world.make_pass()

    (event,) = reported_ends(world)
    assert event["subject"] == f"sweeps/{sweep.id}"
    assert event["data"]["counts"] == {"cancelled": 1, "succeeded": 3}
    assert event["data"]["total"] == 4
    assert event["data"]["parameters"] == {"lr": [0.1, 0.01], "seed": {"range": [0, 2]}}
    assert (await job_sweep(world.ports, sweep.id)).sweep.ended is not None
    assert await world.ports.job_sweeps.template(sweep.id) is None
    assert not [key for _, key in world.ledger.rows if key.startswith("p|")]


async def test_the_same_message_joins_its_sweep_and_another_with_its_key_is_rejected(world: World) -> None:
    sweep = await accepted_sweep(world, idempotencyKey="k")
    again = await accepted_sweep(world, idempotencyKey="k")
    assert again == sweep
    assert len(world.ledger.jobs) == 4

    accepted = await world.message(sweep_message(idempotencyKey="k", name="other"), "m2")

    assert accepted.job.state is JobState.REJECTED
    assert [problem["code"] for problem in accepted.job.problems if problem["severity"] == "error"] == [
        "SW108"
    ]


async def test_a_template_with_a_problem_becomes_one_rejected_job(world: World) -> None:
    document = sweep_message()
    document["spec"]["properties"]["nodeCount"] = -1

    accepted = await world.message(document)

    assert accepted.job.state is JobState.REJECTED
    assert len(world.ledger.jobs) == 1
    assert not [key for _, key in world.ledger.rows if key.startswith("w|")]


async def test_jobs_that_were_not_recorded_are_by_the_order_of_the_timer(world: World) -> None:
    sweep = await accepted_sweep(world)
    stored = await job_sweep(world.ports, sweep.id)
    await world.ports.job_sweeps.change(stored, stored.sweep.model_copy(update={"recorded_jobs": 1}))
    for index in range(1, 4):
        partition = [key for key in world.ledger.held if key[1].endswith(sweep.job_id(index))]
        for key in partition:
            del world.ledger.held[key]
    await world.make_pass()
    ((_, order, _),) = [one for one in world.queues.messages if one[0] == "jobs"]

    await message_arrived(world.ports, order.encode(), "m2")

    assert (await job_sweep(world.ports, sweep.id)).sweep.recorded_jobs == 4
    assert [job.name for job in await swept_jobs(world, sweep)] == ["tune-0", "tune-1", "tune-2", "tune-3"]


async def test_a_cancelled_sweep_ends_all_its_jobs(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()

    await cancel_sweep(world.ports, sweep.id)

    states = [job.state for job in await swept_jobs(world, sweep)]
    assert states[1:] == [JobState.CANCELLED] * 3
    assert (await world.job(sweep.job_id(0))).cancel
    await world.make_pass()
    await world.make_pass()
    ended = (await job_sweep(world.ports, sweep.id)).sweep
    assert ended.counts == {JobState.CANCELLED: 4}
    assert len(world.engine.started) == 1


async def test_the_answer_to_a_cancellation_counts_what_it_ended(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()

    answer = await cancel_sweep(world.ports, sweep.id)

    assert answer.counts == {JobState.CANCELLED: 3}
    assert answer == (await job_sweep(world.ports, sweep.id)).sweep


async def test_a_sweep_whose_jobs_all_wait_has_ended_with_its_cancellation(world: World) -> None:
    sweep = await accepted_sweep(world)

    answer = await cancel_sweep(world.ports, sweep.id)

    assert answer.ended == world.now
    assert answer.counts == {JobState.CANCELLED: 4}
    await world.make_pass()
    assert len(reported_ends(world)) == 1


async def test_jobs_for_which_a_cancellation_has_no_time_are_ended_by_the_timer(world: World) -> None:
    sweep = await accepted_sweep(world)

    answer = await cancel_sweep(world.ports, sweep.id, patience=0.0)

    assert (answer.cancel, answer.counts) == (True, {})
    assert not any(job.state.terminal for job in await swept_jobs(world, sweep))
    await world.make_pass()
    await world.make_pass()
    assert (await job_sweep(world.ports, sweep.id)).sweep.counts == {JobState.CANCELLED: 4}
    assert world.engine.started == []


async def test_while_submissions_are_paused_no_job_of_a_sweep_is_submitted(world: World) -> None:
    await pause(world.ports, "operator", "test")
    sweep = await accepted_sweep(world, parallel=2)
    await world.make_pass()
    assert world.engine.started == []

    await resume(world.ports, "operator")
    await world.make_pass()

    assert len(world.engine.started) == 2
    assert sweep.parallel == 2


async def test_a_sweep_waits_for_other_jobs_as_a_job_does(world: World) -> None:
    first = (await world.message({"spec": job_json(), "name": "data"}, "m0")).job
    sweep = await accepted_sweep(world, after=["data"], parallel=1)
    await world.make_pass()
    waits = (await world.job(sweep.job_id(0))).waiting
    assert waits is not None
    assert waits.word == "Dependency"

    end(world, first)
    await world.make_pass()

    states = [job.state for job in await swept_jobs(world, sweep)]
    assert states == [JobState.QUEUED] + [JobState.ACCEPTED] * 3
    waits = (await world.job(sweep.job_id(1))).waiting
    assert waits is not None
    assert waits.word == "SweepTurn"


async def test_an_unknown_sweep_is_a_404(world: World) -> None:
    with pytest.raises(Misuse, match="there is no sweep"):
        await job_sweep(world.ports, "s_" + "a" * 24)


@pytest.mark.long
async def test_a_pass_costs_one_read_more_for_a_sweep_however_many_jobs_wait(world: World) -> None:
    sweep = await accepted_sweep(world, sweep={"lr": {"range": [0, 100]}, "seed": [1]}, parallel=2)
    await world.make_pass()
    chaos = Chaos({})
    ledger = MemoryLedger(world.clock, table=Seam(world.ledger.table, "table", chaos))
    world.use(ledger=ledger, job_sweeps=TableJobSweeps(ledger.store), outbox=TableOutbox(ledger.store))
    await world.make_pass()
    chaos.calls.clear()

    await world.make_pass()

    assert len([job for job in world.ledger.jobs if job.needs_seat]) == 98
    assert (chaos.calls.count("table.rows"), chaos.calls.count("table.transact")) == (4, 0)
    assert chaos.calls.count("table.get") == 1
    end(world, await world.job(sweep.job_id(0)))
    chaos.calls.clear()

    await world.make_pass()

    # The end of a job, the counts and the seat of the next in one write, and the submission of that.
    assert chaos.calls.count("table.transact") <= 8
    assert chaos.calls.count("table.get") <= 10
