"""A ledger from a backup, while everything else went on: what comes back, and that nothing runs twice."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from shared.adapters.storage.dead import TableDeadMessages
from shared.adapters.storage.finished_rows import TableFinishedJobs
from shared.adapters.storage.job_sweeps import TableJobSweeps
from shared.adapters.storage.node_history import TableNodeHistories
from shared.adapters.storage.outbox import TableOutbox
from shared.core.job import JobState
from shared.intake.drops.inventory import inventory
from shared.operate.audit import audit
from tests.doubles.memory import MemoryLedger
from tests.unit.dropped_folder import drop_folder
from tests.unit.lifecycle.test_outages import JOB, drained, leftovers
from tests.unit.world import World

Restore = Callable[[], None]


def _backup(world: World) -> Restore:
    """What the table holds now; called later, the app starts anew over just that."""
    backup = dict(world.ledger.held)

    def restore() -> None:
        world.ledger.held.clear()
        world.ledger.held.update(backup)
        world.ledger, held = MemoryLedger(world.clock, table=world.ledger.table), world.ledger.held
        world.ledger.held = held
        store = world.ledger.store
        world.outbox = TableOutbox(store)
        world.use(
            ledger=world.ledger,
            outbox=world.outbox,
            dead=TableDeadMessages(store),
            finished=TableFinishedJobs(store),
            node_histories=TableNodeHistories(store),
            job_sweeps=TableJobSweeps(store),
        )

    return restore


async def _ended_after(world: World, act: Coroutine[Any, Any, Any]) -> tuple[Any, Restore]:
    """Something happens, a backup is made, and everything goes on to its end."""
    result = await act
    restore = _backup(world)
    await drained(world, 3)
    return result, restore


async def test_a_job_that_ended_after_the_backup_ends_again_and_does_not_run_again(world: World) -> None:
    accepted, restore = await _ended_after(world, world.message(JOB))

    restore()
    assert (await world.job(accepted.job.id)).state is JobState.QUEUED
    await drained(world, 3)

    assert (await world.job(accepted.job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1
    assert leftovers(world) == []


async def test_a_job_that_was_submitted_after_the_backup_is_found_at_its_cluster(world: World) -> None:
    world.engine.down = True
    accepted = await world.message(JOB)
    restore = _backup(world)
    world.engine.down = False
    world.pass_time(700)
    await drained(world, 3)

    restore()
    await drained(world, 15)

    assert (await world.job(accepted.job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1


async def test_a_submission_that_its_cluster_has_forgotten_since_runs_again(world: World) -> None:
    """No one can tell this case: docs/how-to/operate-a-deployment.md says what to do first."""
    world.engine.down = True
    await world.message(JOB)
    restore = _backup(world)
    world.engine.down = False
    world.pass_time(700)
    await drained(world, 3)
    world.engine.jobs.clear()
    world.engine.tokens.clear()

    restore()
    await drained(world, 15)

    assert world.engine.started == [world.engine.started[0]] * 2


async def test_a_drop_that_came_after_the_backup_is_recorded_again_by_the_inventory(world: World) -> None:
    restore = _backup(world)
    job, _ = await _ended_after(world, drop_folder(world))

    restore()
    assert world.ledger.jobs == []
    await inventory(world.ports)
    await drained(world, 3)

    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1


async def test_a_message_that_came_after_the_backup_is_named_by_the_audit_and_joined_when_it_comes_again(
    world: World,
) -> None:
    restore = _backup(world)
    job = (await world.message({**JOB, "idempotencyKey": "once"}, "m1")).job

    restore()
    assert job.target is not None
    assert ("cluster", job.target.name) in [(d.kind, d.what) for d in (await audit(world.ports)).differences]
    again = (await world.message({**JOB, "idempotencyKey": "once"}, "m2")).job
    await drained(world, 3)

    assert again.id == job.id
    assert (await world.job(job.id)).state is JobState.SUCCEEDED
    assert len(world.engine.started) == 1


async def test_a_job_whose_cluster_forgot_it_since_is_lost_and_does_not_run_again(world: World) -> None:
    accepted, restore = await _ended_after(world, world.message(JOB))
    world.engine.jobs.clear()

    restore()
    await drained(world, 10)

    assert (await world.job(accepted.job.id)).state is JobState.LOST
    assert len(world.engine.started) == 1


async def test_an_end_that_is_reported_again_may_have_another_id(world: World) -> None:
    """The receiver may hear the same end twice, so it has to go by the job and its state."""
    accepted = await world.message(JOB)
    restore = _backup(world)
    (name,) = world.engine.started
    world.engine.set_state(name, JobState.RUNNING)
    await world.make_pass()
    await drained(world, 2)
    restore()
    await drained(world, 2)

    reports = {(one["subject"], one["type"]) for one in world.events()}
    assert reports == {(f"jobs/{accepted.job.id}", "io.slipway.job.succeeded.v1")}
    assert len({one["id"] for one in world.events()}) == 2
