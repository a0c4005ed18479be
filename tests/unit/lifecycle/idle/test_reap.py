"""Idle jobs: which are warned, which end, and which are left alone."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.errors import Transient
from shared.core.job import JobState, Reason, Target
from shared.core.teams.document import Teams
from shared.intake.rerun import rerun
from shared.lifecycle.idle.reap import MOST_LOOKS
from shared.lifecycle.sweeper import make_pass
from shared.operate.ends.cancel import cancel
from tests.unit.lifecycle.idle.idle_world import HOOK, IdleWorld


async def test_a_job_whose_gpus_idle_is_warned_once_and_then_ends_as_idle() -> None:
    world = IdleWorld()
    job = await world.running()

    await world.later(59)
    assert world.types() == []
    await world.later(3)
    warned = await world.job(job.id)
    assert warned.state is JobState.RUNNING
    assert warned.message.startswith("its GPUs have been idle since 2026-01-01T12:")
    assert world.types() == ["idle"]

    await world.later(29)
    assert (await world.job(job.id)).state is JobState.RUNNING
    await world.later(4)

    ended = await world.job(job.id)
    assert (ended.state, ended.reason, ended.attempt) == (JobState.CANCELLED, Reason.IDLE, 1)
    assert ended.message.startswith("ended as idle: its GPUs have been idle since 2026-01-01T12:")
    assert world.types() == ["idle", "cancelled"]
    receipt = world.receipt(ended)
    assert (receipt["state"], receipt["reason"]) == ("cancelled", "idle")


async def test_the_warning_says_since_when_and_when_the_job_ends() -> None:
    world = IdleWorld()
    job = await world.running()

    await world.later(62)

    (event,) = world.events()
    idle = (await world.job(job.id)).idle
    assert idle is not None
    assert event["data"]["state"] == "running"
    assert event["data"]["idle"] == {
        "cause": "gpus",
        "since": idle.since.isoformat().replace("+00:00", "Z"),
        "endsAfter": idle.ends.isoformat().replace("+00:00", "Z"),
    }
    assert (idle.ends - idle.warned).total_seconds() == 1800


@pytest.mark.parametrize(("events", "expected"), [(["cancelled"], ["idle"]), (["running"], ["running"])])
async def test_those_who_asked_for_cancellations_are_warned(events: list[str], expected: list[str]) -> None:
    world = IdleWorld()
    await world.running(notify=[{**HOOK, "events": events}])

    await world.later(65)

    assert world.types() == expected


async def test_a_job_that_works_again_is_left_alone_and_is_warned_anew_later() -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(62)

    world.percent = 80
    await world.later(31)
    again = await world.job(job.id)
    assert (again.state, again.idle, again.message) == (JobState.RUNNING, None, "")
    world.percent = 0
    await world.later(55)
    assert world.types() == ["idle"]
    await world.later(12)

    assert world.types() == ["idle", "idle"]
    await world.later(33)
    assert (await world.job(job.id)).reason is Reason.IDLE


async def test_a_job_that_works_a_little_now_and_then_is_not_idle() -> None:
    world = IdleWorld()
    job = await world.running()
    for _ in range(8):
        world.percent = 0
        await world.later(29)
        world.percent = 60
        await world.later(1)

    assert world.types() == []
    assert (await world.job(job.id)).idle is None


@pytest.mark.parametrize("silent_after", [0, 30, 59, 62, 80])
async def test_a_node_that_does_not_report_is_not_idle(silent_after: int) -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(silent_after)

    world.percent = None
    await world.later(110)

    assert (await world.job(job.id)).state is JobState.RUNNING
    assert world.types() == (["idle"] if silent_after > 60 else [])


async def test_a_cluster_whose_clock_is_ahead_changes_nothing() -> None:
    world = IdleWorld()
    job = await world.running()
    name = job.fixed_target.name
    started = world.now + timedelta(seconds=1)
    world.engine.set_state(name, JobState.RUNNING, started=started)

    await world.later(62)

    assert world.types() == ["idle"]


async def test_a_cluster_that_shows_no_files_ends_nothing() -> None:
    world = IdleWorld()
    job = await world.running()
    name = job.fixed_target.name
    world.engine.forgotten.append(name)

    await world.later(110)

    assert (await world.job(job.id)).state is JobState.RUNNING


async def test_a_job_whose_log_is_silent_ends_too() -> None:
    world = IdleWorld()
    world.policy(idle_gpus=0.0, idle_log=3600.0)
    world.percent = 90
    job = await world.running()
    await world.later(30)
    world.prints()

    await world.later(58)
    assert world.types() == []
    await world.later(4)
    assert world.types() == ["idle"]
    await world.later(34)

    ended = await world.job(job.id)
    assert (ended.state, ended.reason) == (JobState.CANCELLED, Reason.IDLE)
    assert ended.message.startswith("ended as idle: nothing was added to its standard output and error since")


async def test_a_job_that_prints_again_is_left_alone() -> None:
    world = IdleWorld()
    world.policy(idle_gpus=0.0, idle_log=3600.0)
    job = await world.running()
    world.prints()
    await world.later(70)
    world.prints()
    await world.later(40)

    assert world.types() == ["idle"]
    assert (await world.job(job.id)).idle is None


async def test_a_log_whose_times_are_not_known_is_not_silent() -> None:
    world = IdleWorld()
    world.policy(idle_gpus=0.0, idle_log=3600.0)
    job = await world.running()
    world.prints()
    del world.engine.modified["stdout.txt"]

    await world.later(120)

    assert (await world.job(job.id)).idle is None


async def test_a_log_is_not_silent_while_nothing_beside_it_is_written() -> None:
    world = IdleWorld()
    world.policy(idle_gpus=0.0, idle_log=3600.0)
    job = await world.running()
    world.prints()
    await world.later(30)
    world.percent = None  # the share hangs, or the node does

    await world.later(110)

    assert (await world.job(job.id)).idle is None


async def test_nothing_is_read_while_both_limits_are_off_or_far() -> None:
    for limit in (0.0, 3600.0):
        world = IdleWorld()
        world.policy(idle_gpus=limit)
        calls = _count_files(world)
        await world.running()

        await world.later(50)

        assert calls == []


@pytest.mark.long
async def test_a_pass_looks_at_a_bounded_number_of_jobs_and_at_each_seldom() -> None:
    world = IdleWorld()
    world.percent = 70
    count = MOST_LOOKS + 6
    for number in range(count):
        accepted = await world.message({"name": f"n{number}", "spec": {"properties": _SMALL}}, f"m{number}")
        world.engine.set_state((await world.job(accepted.job.id)).fixed_target.name, JobState.RUNNING)
    await world.make_pass(1)
    calls = _count_files(world)

    world.pass_time(3600)
    for second in range(-300, 121, 15):
        world.report(world.now.replace(microsecond=0) + timedelta(seconds=second))
    await world.make_pass(1)
    assert len(calls) == MOST_LOOKS
    await world.make_pass(1)
    assert len(calls) == len(set(calls)) == count
    await world.make_pass(60)

    assert len(calls) == count


async def test_a_share_that_hangs_takes_no_pass_longer_than_a_call_may_last() -> None:
    world = IdleWorld()
    world.policy(dispatch_deadline=0.01)
    job = await world.running()
    never = asyncio.Event()

    async def hangs(target: Target, directory: str, path: str = ".") -> Any:
        await never.wait()

    world.engine.files = hangs  # type: ignore[method-assign]
    world.pass_time(3600)
    counts = await make_pass(world.ports)

    assert counts.active == 1
    assert (await world.job(job.id)).idle is None


_SMALL = {
    "nodeCount": 1,
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
    "customToolkitSettings": {"commandLine": "echo hello"},
}


def _count_files(world: IdleWorld) -> list[str]:
    """The names of the attempts whose files are listed from now on."""
    names: list[str] = []
    original = world.engine.files

    async def files(target: Any, directory: str, path: str = ".") -> Any:
        names.append(target.name)
        return await original(target, directory, path)

    world.engine.files = files  # type: ignore[method-assign]
    return names


async def test_a_cancellation_that_fails_is_repeated_by_the_sweep() -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(85)
    original, tries = world.engine.cancel, []

    async def refuses_once(target: Any) -> None:
        tries.append(target.name)
        if len(tries) == 1:
            raise Transient("no answer")
        await original(target)

    world.engine.cancel = refuses_once  # type: ignore[method-assign]
    await world.later(10)

    assert len(tries) > 1
    assert (await world.job(job.id)).reason is Reason.IDLE


async def test_a_job_that_ends_by_itself_after_the_request_keeps_its_own_end() -> None:
    world = IdleWorld()
    job = await world.running()

    async def ends(target: Any) -> None:
        world.engine.set_state(target.name, JobState.SUCCEEDED, exit_code=0)

    world.engine.cancel = ends  # type: ignore[method-assign]
    await world.later(98)

    ended = await world.job(job.id)
    assert (ended.state, ended.reason, ended.cancel) == (JobState.SUCCEEDED, None, True)


async def test_no_retry_follows_and_a_rerun_works() -> None:
    world = IdleWorld()
    job = await world.running(retry={"infrastructure": 3, "user": 3})
    await world.later(98)
    assert len(world.engine.started) == 1

    receipt = world.receipt(await world.job(job.id))
    again = await rerun(world.ports, job.id, receipt, who=KEY_HOLDER, key="k")

    assert again.job.id != job.id
    assert len(world.engine.started) == 2


async def test_a_person_s_cancellation_is_no_idle_end() -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(62)

    await cancel(world.ports, job.id)
    await world.later(2)

    assert (await world.job(job.id)).reason is Reason.TERMINATED


async def test_a_job_that_its_cluster_puts_back_begins_anew() -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(70)
    world.engine.set_state(job.fixed_target.name, JobState.QUEUED)
    await world.later(1)
    assert (await world.job(job.id)).idle is None
    world.engine.set_state(job.fixed_target.name, JobState.RUNNING)

    await world.later(55)

    assert (await world.job(job.id)).idle is None
    await world.later(8)
    assert (await world.job(job.id)).idle is not None


@pytest.mark.parametrize(
    ("team", "labels", "is_idle"),
    [
        (None, {"keep-idle": "true"}, False),
        (None, {"keep-idle": "false"}, True),
        ({"keepIdle": True}, {"keep-idle": "true"}, False),
        ({"keepIdle": True}, {}, True),
        ({}, {"keep-idle": "true"}, True),
    ],
)
async def test_a_label_keeps_a_job_where_its_team_allows_it(
    team: dict[str, Any] | None, labels: dict[str, str], is_idle: bool
) -> None:
    world = IdleWorld()
    if team is not None:
        teams = Teams.model_validate({"default": "vision", "teams": {"vision": team}})
        await world.ports.teams.put(teams, "")
    job = await world.running(labels=labels)

    await world.later(62)

    assert ((await world.job(job.id)).idle is not None) == is_idle


async def test_a_team_that_allows_it_later_takes_the_warning_back() -> None:
    world = IdleWorld()
    teams = {"default": "vision", "teams": {"vision": {}}}
    stored = await world.ports.teams.put(Teams.model_validate(teams), "")
    assert stored is not None
    job = await world.running(labels={"keep-idle": "true"})
    await world.later(62)
    assert (await world.job(job.id)).idle is not None

    teams["teams"] = {"vision": {"keepIdle": True}}
    await world.ports.teams.put(Teams.model_validate(teams), stored.etag)
    await world.later(40)

    after = await world.job(job.id)
    assert (after.state, after.idle) == (JobState.RUNNING, None)


async def test_a_limit_that_is_switched_off_takes_the_warning_back() -> None:
    world = IdleWorld()
    job = await world.running()
    await world.later(62)

    world.policy(idle_gpus=0.0, idle_log=1e6)
    await world.later(40)

    assert (await world.job(job.id)).idle is None
