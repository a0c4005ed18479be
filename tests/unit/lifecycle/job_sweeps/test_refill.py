"""refill: how many jobs of a sweep get the seats of those that ended, and what is left alone."""

from __future__ import annotations

import pytest

from shared.admission.door import admit_next
from shared.admission.gates import SLOT, Wait
from shared.admission.permit import Permit
from shared.core.job import Job, JobState, Stored
from shared.core.job_sweeps.record import JobSweep
from shared.lifecycle.job_sweeps.refill import refill
from tests.unit.lifecycle.job_sweeps.swept import accepted_sweep, read_sweep, states
from tests.unit.world import World

QUEUED, ACCEPTED = JobState.QUEUED, JobState.ACCEPTED


async def _ended(world: World, sweep: JobSweep, number: int) -> Job:
    """One of its jobs, as its end is told."""
    job = await world.job(sweep.job_id(number))
    return job.model_copy(update={"state": JobState.SUCCEEDED})


async def test_as_many_jobs_are_counted_as_got_a_seat(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=2)
    await world.make_pass()

    assert await refill(world.ports, [await _ended(world, sweep, 0)]) == 1

    assert (await read_sweep(world, sweep.id)).seats == (1, 2)
    assert len(world.engine.started) == 3


async def test_the_end_of_a_job_whose_sweep_is_gone_gives_no_seat(world: World) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()
    job = await _ended(world, sweep, 0)
    assert job.sweep is not None
    lost = job.model_copy(update={"sweep": job.sweep.model_copy(update={"id": "s" + "0" * 20})})

    assert await refill(world.ports, [lost]) == 0

    assert await states(world, sweep) == [QUEUED, ACCEPTED, ACCEPTED, ACCEPTED]


async def test_a_job_without_a_record_is_passed_over(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = await accepted_sweep(world, parallel=1)
    await world.make_pass()
    ended, original = await _ended(world, sweep, 0), world.ledger.get

    async def get(job_id: str) -> Stored | None:
        return None if job_id == sweep.job_id(1) else await original(job_id)

    with monkeypatch.context() as patch:
        patch.setattr(world.ledger, "get", get)
        assert await refill(world.ports, [ended]) == 1

    assert await states(world, sweep) == [QUEUED, ACCEPTED, ACCEPTED, ACCEPTED]


async def test_of_two_jobs_only_one_takes_the_last_slot_of_the_active_jobs(world: World) -> None:
    world.policy(max_active_jobs=1)
    sweep = await accepted_sweep(world, parallel=2)
    world.ports.memo.forget("at work")

    ids = {sweep.job_id(0), sweep.job_id(1)}
    first, second = [await world.ledger.get(one) for one in sorted(ids)]
    assert first is not None
    assert second is not None

    assert isinstance(await admit_next(world.ports, first, seats=ids), Permit)
    verdict = await admit_next(world.ports, second, seats=ids)
    assert isinstance(verdict, Wait)
    assert verdict.gate is SLOT
