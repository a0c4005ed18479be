"""A hold ends when a caller who may change the job says so; a repeated request changes nothing."""

from __future__ import annotations

import pytest

from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.errors import Misuse, Transient
from shared.core.job import JobState, Reason
from shared.core.view import whole
from shared.operate.ends.release import release
from tests.unit.lifecycle.hold.hold_world import HoldWorld


async def test_a_released_job_ends_as_its_command_did() -> None:
    world = HoldWorld()
    job = await world.held()

    requested = (await release(world.ports, job.id)).job
    await world.make_pass()

    ended = await world.job(job.id)
    assert (requested.state, requested.cancel) == (JobState.RUNNING, True)
    assert (ended.state, ended.reason, ended.exit_code) == (JobState.FAILED, Reason.USER, 3)
    assert world.types() == ["held", "failed"]


async def test_who_released_a_job_is_in_its_history_and_did_not_cancel_it() -> None:
    world = HoldWorld()
    job = await world.held()

    await release(world.ports, job.id)
    await world.make_pass()

    ended = whole(await world.job(job.id))
    assert "cancelledBy" not in ended
    assert [entry["by"] for entry in ended["history"] if "by" in entry] == [KEY_HOLDER.name]


async def test_a_repeated_release_changes_nothing() -> None:
    world = HoldWorld()
    job = await world.held()

    first = (await release(world.ports, job.id)).job
    assert (await release(world.ports, job.id)).job == first
    await world.make_pass()
    ended = await world.job(job.id)

    assert (await release(world.ports, job.id)).job == ended


async def test_a_job_that_failed_a_moment_ago_can_be_released_before_a_pass_has_seen_it() -> None:
    world = HoldWorld()
    job = await world.running()
    world.fails(job)

    await release(world.ports, job.id)
    await world.make_pass()

    assert (await world.job(job.id)).state is JobState.FAILED
    assert world.types() == ["held", "failed"]


async def test_a_job_whose_nodes_are_not_kept_goes_on() -> None:
    world = HoldWorld()
    job = await world.running()

    with pytest.raises(Misuse, match="is running, and does not keep its nodes") as refused:
        await release(world.ports, job.id)

    assert (refused.value.status, refused.value.remedy) == (
        409,
        f"cancel it instead: slipway cancel {job.id}",
    )
    assert not (await world.job(job.id)).cancel


async def test_a_release_that_the_engine_did_not_hear_is_repeated_by_the_passes() -> None:
    world = HoldWorld()
    job = await world.held()
    world.engine.fail = [Transient("down"), Transient("down")]

    await release(world.ports, job.id)
    for _ in range(3):
        await world.make_pass()

    assert (await world.job(job.id)).state is JobState.FAILED


async def test_who_may_not_change_a_job_may_not_release_it() -> None:
    world = HoldWorld()
    job = await world.held()

    with pytest.raises(Misuse) as refused:
        await release(world.ports, job.id, Caller("someone", frozenset({SUBMIT})))

    assert refused.value.status in (403, 404)
    assert not (await world.job(job.id)).cancel
