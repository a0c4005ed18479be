"""What one look at the jobs that wait for others costs, and what a failure within it leaves alone."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from shared.adapters.storage.outbox import TableOutbox
from shared.adapters.storage.table import VersionedRow
from shared.core.job import Job, JobState, Reason, Stored
from shared.intake.arrive import blob_arrived
from shared.lifecycle.sweeper import make_pass
from shared.lifecycle.waiting.dependents import ends_of, look_again, settle
from shared.operate.ends.cancel import cancel
from tests.doubles.memory import MemoryLedger, MemoryTable
from tests.unit.world import World, job_json

#: Records that `dependents` reads at once.
_AT_ONCE = 16


class _Slow(MemoryTable):
    """A table that answers a little later, counts how many reads it has at once, and may answer never."""

    at_once = 0
    most = 0
    reads = 0
    silent = False

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        self.at_once += 1
        self.reads += 1
        self.most = max(self.most, self.at_once)
        try:
            await (asyncio.Event().wait() if self.silent else asyncio.sleep(0))
            return await super().get(partition, row)
        finally:
            self.at_once -= 1


@pytest.fixture
def table(world: World) -> _Slow:
    table = _Slow(world.clock)
    world.ledger = MemoryLedger(world.clock, table=table)
    world.outbox = TableOutbox(world.ledger.store)
    world.use(ledger=world.ledger, outbox=world.outbox)
    return table


async def _ended(world: World, name: str, state: JobState = JobState.SUCCEEDED) -> Job:
    """A job that has ended, which nothing has judged yet."""
    job = await world.named(name)
    world.engine.set_state(world.engine.started[-1], state)
    await world.make_pass()
    return await world.job(job.id)


async def _stored(world: World, job: Job) -> Stored:
    stored = await world.ledger.get(job.id)
    assert stored is not None
    return stored


def _waiting_for(stored: Stored, other: Job) -> Stored:
    """The same record, if it waited for another job: one that has ended since it was accepted."""
    (one,) = stored.job.dependencies
    dependencies = (one.model_copy(update={"job": other.id}),)
    return replace(stored, job=stored.job.model_copy(update={"dependencies": dependencies}))


def _damage(world: World, row_key: str) -> None:
    key = next(key for key in world.ledger.held if key[1] == row_key)
    held = world.ledger.held[key]
    world.ledger.held[key] = replace(held, row={**held.row, "Packed0": "damaged"})


# At the door


async def test_a_job_whose_others_have_not_ended_stays_as_it_is(world: World) -> None:
    await world.named("data")
    stored = await _stored(world, await world.named("train", after=["data"]))

    assert await look_again(world.ports, stored) == stored


async def test_a_record_that_moved_on_meanwhile_is_left_to_the_sweep(world: World) -> None:
    failed = await _ended(world, "data", JobState.FAILED)
    await world.named("other")
    stored = _waiting_for(await _stored(world, await world.named("train", after=["other"])), failed)
    await cancel(world.ports, stored.job.id)

    assert await look_again(world.ports, stored) == stored


async def test_a_drop_whose_other_job_ended_meanwhile_says_so_at_once(world: World) -> None:
    done = await _ended(world, "data")
    await world.named("long")
    world.drops.upload("d/job.json", json.dumps(job_json()).encode())
    world.drops.upload("d/slipway.json", b'{"after": ["long"]}')
    world.pass_time(10)
    job = (await blob_arrived(world.ports, "scripts", "d/job.json")).accepted[0].job
    assert b"waits for long" in world.drops.receipt_files[job.status_file]

    released = (await look_again(world.ports, _waiting_for(await _stored(world, job), done))).job

    assert (released.state, released.unmet, released.waiting) == (JobState.ACCEPTED, (), None)
    assert b"waits for" not in world.drops.receipt_files[job.status_file]


async def test_a_job_whose_other_one_failed_meanwhile_ends_at_once(world: World) -> None:
    failed = await _ended(world, "data", JobState.FAILED)
    await world.named("long")
    stored = _waiting_for(await _stored(world, await world.named("train", after=["long"])), failed)

    assert (await look_again(world.ports, stored)).job.reason is Reason.DEPENDENCY


# In a pass


async def test_a_job_that_goes_on_waiting_keeps_no_other_from_its_release(world: World) -> None:
    first = await world.named("data")
    await world.named("long")
    released = await world.named("train", after=["data"])
    waits = [await world.named(f"t{n}", after=["long"]) for n in range(3)]
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await world.make_pass()

    assert (await world.job(first.id)).state is JobState.SUCCEEDED
    assert (await world.job(released.id)).state is JobState.QUEUED
    assert {(await world.job(job.id)).state for job in waits} == {JobState.ACCEPTED}


async def test_only_the_records_that_an_end_concerns_are_looked_into(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.named("data")
    await world.named("long")
    await world.named("train", after=["data"])
    other = await world.named("clean", after=["long"])
    _damage(world, f"n|{other.id}")
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)

    await world.make_pass()

    assert other.id not in caplog.text


async def test_a_record_that_is_not_there_hides_no_other_end(world: World) -> None:
    done = await _ended(world, "data")

    assert await ends_of(world.ports, {done.id, f"j_{'0' * 24}"}) == {done.id: JobState.SUCCEEDED}


@pytest.mark.long
async def test_ends_of_many_jobs_are_read_a_few_at_once(world: World, table: _Slow) -> None:
    number = 3 * _AT_ONCE
    others = [await world.named(f"d{n}") for n in range(number)]
    for n, other in enumerate(others):
        await world.named(f"t{n}", after=[other.id])
    rows = [row for shard in range(4) for row in await world.ledger.active(shard) if row.after]
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    table.most = table.reads = 0

    await settle(world.ports, rows, ())

    assert 1 < table.most <= _AT_ONCE
    # How the other one ended, and the record that the sweeper changed already: two rows for each of both.
    assert table.reads <= 4 * number


async def test_a_ledger_that_does_not_answer_holds_a_pass_no_longer_than_its_time(
    world: World, table: _Slow
) -> None:
    first = await world.named("data")
    waits = await world.named("train", after=["data"])
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    world.policy(pass_deadline=0.0)
    table.silent = True

    counts = await make_pass(world.ports)

    table.silent = False
    assert counts.dispatched == 0
    assert (await world.job(waits.id)).state is JobState.ACCEPTED
    world.policy(pass_deadline=120.0)
    await world.make_pass()
    assert (await world.job(first.id)).state is JobState.SUCCEEDED
    assert (await world.job(waits.id)).state is JobState.QUEUED
