"""Another attempt after a failure, by whose fault it was."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.core.engine import Observation
from shared.core.job import Budget, Entry, Job, JobState, Reason, Target
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.environment import environment
from shared.lifecycle.cluster_pass import commit
from shared.lifecycle.retry import earlier, spent_on_another, wait
from shared.operate.ends.cancel import cancel
from tests.unit.world import World, job_json


async def _fail(world: World, reason: Reason, **how: Any) -> None:
    """The attempt that runs now fails; the passes after it see that, wait, and submit what follows."""
    name = world.engine.started[-1]
    world.engine.set_state(name, JobState.RUNNING)
    await world.make_pass()
    world.engine.set_state(name, JobState.FAILED, reason=reason, **how)
    await world.make_pass()
    await world.make_pass(3600)


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
    assert [(one.target.name, one.reason) for one in world.engine.orders[1].earlier] == [(first, "preempted")]

    world.engine.set_state(second, JobState.SUCCEEDED)
    await world.make_pass()
    attempts = world.receipt(await world.job(job.id))["attempts"]
    assert [(a["attempt"], a["name"], a["state"], a.get("reason")) for a in attempts] == [
        (1, first, "failed", "preempted"),
        (2, second, "succeeded", None),
    ]
    assert attempts[0]["endedAt"] < attempts[1]["queuedAt"] < attempts[1]["endedAt"]
    assert world.engine.overlaps == []


async def test_another_attempt_waits_for_a_while_and_has_not_begun(world: World) -> None:
    accepted = await world.message({"spec": job_json()})
    name = world.engine.started[0]
    world.engine.set_state(name, JobState.RUNNING, started=world.now)
    await world.make_pass()
    assert (await world.job(accepted.job.id)).started == world.now - timedelta(seconds=60)
    world.engine.set_state(name, JobState.FAILED, reason=Reason.PREEMPTED)
    await world.make_pass()

    job = await world.job(accepted.job.id)
    pause = wait(2, 0.5)
    assert (job.state, job.attempt, job.started) == (JobState.ACCEPTED, 2, None)
    assert job.due == world.now + timedelta(seconds=pause)
    await world.make_pass(pause - 1)
    assert len(world.engine.started) == 1
    await world.make_pass(1)
    assert len(world.engine.started) == 2


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
    request = {"spec": job_json(), "retry": {"infrastructure": 1, "user": 1}}
    accepted = await world.message(request)
    await _fail(world, Reason.USER, exit_code=3, message="JobFailed: exit code 3")
    await _fail(world, Reason.INFRASTRUCTURE, message="the node is gone")
    await _fail(world, Reason.USER, exit_code=4, message="JobFailed: exit code 4")

    job = await world.job(accepted.job.id)
    receipt = [(a["attempt"], a["reason"], a["message"]) for a in world.receipt(job)["attempts"]]
    assert receipt == [
        (1, "user", "attempt 1 failed: JobFailed: exit code 3"),
        (2, "infrastructure", "attempt 2 failed: the node is gone"),
        (3, "user", "JobFailed: exit code 4"),
    ]
    assert (job.state, job.exit_code, len(world.engine.started)) == (JobState.FAILED, 4, 3)
    assert world.engine.overlaps == []


@pytest.mark.parametrize(
    ("stderr", "message", "note"),
    [
        (b"Traceback\nValueError: no data\n", "JobFailed", "JobFailed: ValueError: no data"),
        (b"the key is storage-key\n", "", "the key is ***"),
        (b"", "JobFailed", "JobFailed"),
    ],
)
async def test_why_an_attempt_failed_that_is_not_the_last_stands_in_the_history(
    world: World, stderr: bytes, message: str, note: str
) -> None:
    accepted = await world.message({"spec": job_json(), "retry": {"user": 1}})
    world.engine.output = {"stderr.txt": stderr}
    await _fail(world, Reason.USER, exit_code=3, message=message)
    job = await world.job(accepted.job.id)
    (entry,) = [entry for entry in job.history if entry.reason is Reason.USER and entry.attempt == 2]
    assert entry.note == f"attempt 1 failed: {note}"


async def test_no_attempt_waits_for_a_cluster_that_does_not_say_why(world: World) -> None:
    accepted = await world.message({"spec": job_json(), "retry": {"user": 1}})
    world.policy(last_error_patience=0)
    world.engine.hangs.add("files")
    await _fail(world, Reason.USER, exit_code=3)
    assert (await world.job(accepted.job.id)).attempt == 2


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
    world.engine.set_state(name, JobState.FAILED, reason=Reason.PREEMPTED)
    await cancel(world.ports, accepted.job.id)
    await world.make_pass()
    await world.make_pass(3600)

    assert len(world.engine.started) == 1
    assert (await world.job(accepted.job.id)).state.terminal


async def test_a_job_that_waits_for_its_next_attempt_can_be_cancelled(world: World) -> None:
    accepted = await world.message(job_json())
    world.engine.set_state(world.engine.started[0], JobState.FAILED, reason=Reason.PREEMPTED)
    await world.make_pass(1)
    assert (await world.job(accepted.job.id)).state is JobState.ACCEPTED

    await cancel(world.ports, accepted.job.id)

    assert (await world.job(accepted.job.id)).state is JobState.CANCELLED
    assert len(world.engine.started) == 1


async def test_a_lost_job_is_not_repeated_because_it_may_still_run(world: World) -> None:
    accepted = await world.message(job_json())
    world.engine.jobs.clear()
    for _ in range(8):
        await world.make_pass()
    assert (await world.job(accepted.job.id)).state is JobState.LOST
    assert len(world.engine.started) == 1


async def test_a_late_word_about_the_first_attempt_says_nothing_about_the_second(world: World) -> None:
    accepted = await world.message(job_json())
    (stale,) = [row for n in range(4) for row in await world.ledger.active(n)]
    await _fail(world, Reason.PREEMPTED)

    changed = await commit(world.ports, [stale], {stale.job_id: world.engine.jobs[world.engine.started[0]]})

    assert changed == 0
    assert (await world.job(accepted.job.id)).attempt == 2


async def _unstarted(world: World, state: JobState = JobState.FAILED, **how: Any) -> None:
    """The cluster gives the attempt up before anything of it ran."""
    world.engine.set_state(world.engine.started[-1], state, unstarted=True, **how)
    await world.make_pass()


async def test_an_attempt_that_the_cluster_did_not_start_costs_nothing_and_is_followed_by_another(
    world: World,
) -> None:
    accepted = await world.message({"spec": job_json(), "retry": {"infrastructure": 0}})
    for number in range(1, 7):
        await _unstarted(world, reason=Reason.INFRASTRUCTURE, message="a node did not boot")
        job = await world.job(accepted.job.id)
        assert (job.state, job.attempt, job.spent.infrastructure) == (JobState.ACCEPTED, number + 1, 0)
        assert f"attempt {number} was not started by the cluster" in job.message
        await world.make_pass(3600)
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    assert (await world.job(accepted.job.id)).state is JobState.SUCCEEDED


async def test_attempts_that_the_cluster_does_not_start_for_ever_cost_retries_and_end_the_job(
    world: World,
) -> None:
    """A job may have its attempts look so: it removes its own record."""
    world.policy(free_attempts=2)
    accepted = await world.message({"spec": job_json(), "retry": {"infrastructure": 1}})

    texts = []
    for _ in range(4):
        await _unstarted(world, reason=Reason.INFRASTRUCTURE, message="no boot")
        texts.append((await world.job(accepted.job.id)).message)
        await world.make_pass(3600)

    job = await world.job(accepted.job.id)
    assert (job.state, job.reason, job.attempt) == (JobState.FAILED, Reason.INFRASTRUCTURE, 4)
    assert (job.started, job.spent.infrastructure) == (None, 1)
    assert texts == [
        "attempt 1 was not started by the cluster (which costs no retry): no boot",
        "attempt 2 was not started by the cluster (2 by now, which cost no retry): no boot",
        "attempt 3 was not started by the cluster (a retry, since 2 attempts have cost none): no boot",
        "attempt 4 was not started by the cluster (2 attempts have cost no retry, and none is left): no boot",
    ]


async def test_a_cancelled_job_that_was_not_started_is_not_started_again(world: World) -> None:
    accepted = await world.message({"spec": job_json()})
    await cancel(world.ports, accepted.job.id)
    await _unstarted(world, reason=Reason.INFRASTRUCTURE)

    job = await world.job(accepted.job.id)
    assert (job.state, job.reason, job.attempt) == (JobState.CANCELLED, Reason.TERMINATED, 1)


@pytest.mark.parametrize("requested", [False, True])
async def test_a_cancellation_that_was_not_asked_for_here_says_so(world: World, requested: bool) -> None:
    accepted = await world.message({"spec": job_json()})
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    if requested:
        await cancel(world.ports, accepted.job.id)
    world.engine.set_state(
        world.engine.started[-1], JobState.CANCELLED, reason=Reason.TERMINATED, message="Slurm job 7"
    )
    await world.make_pass()

    job = await world.job(accepted.job.id)
    assert (job.state, job.reason) == (JobState.CANCELLED, Reason.TERMINATED)
    by = "cancelled on the cluster and not here: by its administrator, or by hand (Slurm job 7)"
    assert job.message == ("Slurm job 7" if requested else by)


# The decision, without a world


def _job(**fields: Any) -> Job:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    members = {"id": "j_1", "key": "k", "payload": "p", "door": "queue", "name": "n", "experiment": "e"}
    target = Target(engine="memory", cluster="dev", experiment="e", name="n", token="t")
    whole = {
        **members,
        "cluster": "dev",
        "state": JobState.RUNNING,
        "created": now,
        "due": now,
        "target": target,
    }
    return Job(**{**whole, **fields})


@pytest.mark.parametrize(
    ("observation", "spent"),
    [
        (Observation(JobState.FAILED, Reason.PREEMPTED), Budget(infrastructure=2, user=1)),
        (Observation(JobState.FAILED, Reason.INFRASTRUCTURE), Budget(infrastructure=2, user=1)),
        (Observation(JobState.FAILED, Reason.USER), None),
        (Observation(JobState.FAILED), None),
        (Observation(JobState.CANCELLED, Reason.PREEMPTED), None),
        (Observation(JobState.SUCCEEDED, Reason.USER), None),
    ],
    ids=str,
)
def test_only_a_failure_is_repeated_from_the_budget_of_whose_fault_it_was(
    observation: Observation, spent: Budget | None
) -> None:
    job = _job(retry=Budget(infrastructure=2, user=1), spent=Budget(infrastructure=1, user=1))
    assert spent_on_another(job, observation, 1) == spent


def test_an_order_names_the_fifty_attempts_before_it_with_why_they_ended() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    ends = {61: Reason.USER, 60: Reason.PREEMPTED, 12: Reason.INFRASTRUCTURE, 11: Reason.USER}
    history = tuple(
        Entry(sequence=n, state=JobState.ACCEPTED, at=now, token="t", attempt=n, reason=reason)
        for n, reason in sorted(ends.items())
    )
    result = earlier(_job(attempt=61, history=history))

    assert [one.target.token for one in result] == [f"j_1.{n}" for n in range(60, 10, -1)]
    assert {one.target.token: one.reason for one in result if one.reason} == {
        "j_1.60": "user",
        "j_1.59": "preempted",
        "j_1.11": "infrastructure",
    }
    assert {one.reason for one in result} == {"user", "preempted", "infrastructure", ""}


@pytest.mark.parametrize(("attempt", "numbers"), [(1, []), (2, [1]), (3, [2, 1])])
def test_an_order_names_every_attempt_before_it(attempt: int, numbers: list[int]) -> None:
    assert [one.target.token for one in earlier(_job(attempt=attempt))] == [f"j_1.{n}" for n in numbers]


def test_however_soon_chance_has_it_a_second_passes_before_another_attempt() -> None:
    assert wait(2, 0.0) == 1.0
