"""Another attempt after a failure, by whose fault it was."""

from __future__ import annotations

import re
from typing import Any

import pytest

from shared.cancel import cancel
from shared.engines.batchai_client import Workspace
from shared.engines.batchai_environment import environment
from shared.job import JobState, Reason
from shared.sweep import _commit
from tests.unit.dispatcher.world import World, job_json


async def _fail(world: World, reason: Reason, **how: Any) -> None:
    """The attempt that runs now fails; the sweeps after it see that, wait, and submit what follows."""
    name = world.engine.started[-1]
    world.engine.turn(name, JobState.RUNNING)
    await world.sweep()
    world.engine.turn(name, JobState.FAILED, reason=reason, **how)
    await world.sweep()
    await world.sweep(3600)


async def test_a_preempted_job_gets_another_attempt_under_another_name(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "name": "mnist"})
    await _fail(world, Reason.PREEMPTED)

    job = await world.job(accepted.job.id)
    assert (job.state, job.attempt, job.id) == (JobState.QUEUED, 2, accepted.job.id)
    first, second = world.engine.started
    assert (first[-2:], second[-2:]) == ("-1", "-2")
    variables = {
        v["name"]: v["value"] for v in world.engine.orders[1].document["properties"]["environmentVariables"]
    }
    assert variables["SLIPWAY_ATTEMPT"] == "2"

    world.engine.turn(second, JobState.SUCCEEDED)
    await world.sweep()
    attempts = world.receipt(await world.job(job.id))["attempts"]
    assert [(a["attempt"], a["name"], a["state"], a.get("reason")) for a in attempts] == [
        (1, first, "failed", "preempted"),
        (2, second, "succeeded", None),
    ]
    assert attempts[0]["endedAt"] < attempts[1]["queuedAt"] < attempts[1]["endedAt"]
    assert world.engine.overlaps == []


async def test_the_budget_of_the_infrastructure_ends(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "retry": {"infrastructure": 2}})
    for _ in range(3):
        await _fail(world, Reason.INFRASTRUCTURE, message="node lost")

    job = await world.job(accepted.job.id)
    assert (job.state, job.attempt, len(world.engine.started)) == (JobState.FAILED, 3, 3)


@pytest.mark.parametrize(("retry", "attempts"), [(None, 1), ({"user": 1}, 2)])
async def test_a_failure_of_ones_own_is_repeated_only_if_asked_for(
    world: World, retry: dict[str, int] | None, attempts: int
) -> None:
    accepted = await world.message({"spec": job_json(), **({"retry": retry} if retry else {})})
    for _ in range(attempts):
        await _fail(world, Reason.USER, exit_code=1)

    job = await world.job(accepted.job.id)
    assert (job.state, job.attempt) == (JobState.FAILED, attempts)


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.PREPARATION, Reason.UNSUPPORTED])
async def test_what_would_fail_again_is_not_repeated(world: World, reason: Reason) -> None:
    accepted = await world.message(job_json())
    await _fail(world, reason)
    assert (await world.job(accepted.job.id)).state is JobState.FAILED


async def test_the_attempts_of_both_budgets_stand_in_one_receipt(world: World) -> None:
    asked = {"spec": job_json(), "retry": {"infrastructure": 1, "user": 1}}
    accepted = await world.message(asked)
    await _fail(world, Reason.USER, exit_code=3, message="JobFailed: exit code 3")
    await _fail(world, Reason.INFRASTRUCTURE, message="the node is gone")
    await _fail(world, Reason.USER, exit_code=4, message="JobFailed: exit code 4")

    job = await world.job(accepted.job.id)
    found = [(a["attempt"], a["reason"], a["message"]) for a in world.receipt(job)["attempts"]]
    assert found == [
        (1, "user", "attempt 1 failed: JobFailed: exit code 3"),
        (2, "infrastructure", "attempt 2 failed: the node is gone"),
        (3, "user", "JobFailed: exit code 4"),
    ]
    assert (job.state, job.exit_code, len(world.engine.started)) == (JobState.FAILED, 4, 3)
    assert world.engine.overlaps == []


async def test_every_attempt_writes_into_a_folder_that_has_its_number(world: World) -> None:
    await world.message({"spec": job_json(), "name": "mnist"})
    await _fail(world, Reason.PREEMPTED)

    workspace = Workspace(url="https://a.example.com", subscription="s", group="g", name="w", client_id="")
    folders = [
        next(v.value for v in environment(workspace, order) if v.name == "AZ_BATCHAI_STDOUTERR_DIR")
        for order in world.engine.orders
    ]
    assert [re.findall(r"/jobs/mnist-\w{16}-(\d)/", folder) for folder in folders] == [["1"], ["2"]]


async def test_a_cancelled_job_gets_no_other_attempt(world: World) -> None:
    accepted = await world.message(job_json())
    name = world.engine.started[0]
    world.engine.turn(name, JobState.FAILED, reason=Reason.PREEMPTED)
    await cancel(world.ports, accepted.job.id)
    await world.sweep()
    await world.sweep(3600)

    assert len(world.engine.started) == 1
    assert (await world.job(accepted.job.id)).state.terminal


async def test_a_job_that_waits_for_its_next_attempt_can_be_cancelled(world: World) -> None:
    accepted = await world.message(job_json())
    world.engine.turn(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    await world.sweep(1)
    assert (await world.job(accepted.job.id)).state is JobState.ACCEPTED

    await cancel(world.ports, accepted.job.id)

    assert (await world.job(accepted.job.id)).state is JobState.CANCELLED
    assert len(world.engine.started) == 1


async def test_a_lost_job_is_not_repeated_because_it_may_still_run(world: World) -> None:
    accepted = await world.message(job_json())
    world.engine.jobs.clear()
    for _ in range(8):
        await world.sweep()
    assert (await world.job(accepted.job.id)).state is JobState.LOST
    assert len(world.engine.started) == 1


async def test_a_late_word_about_the_first_attempt_says_nothing_about_the_second(world: World) -> None:
    accepted = await world.message(job_json())
    (stale,) = [row for n in range(4) for row in await world.ledger.active(n)]
    await _fail(world, Reason.PREEMPTED)

    changed = await _commit(world.ports, [stale], {stale.job_id: world.engine.jobs[world.engine.started[0]]})

    assert changed == 0
    assert (await world.job(accepted.job.id)).attempt == 2
