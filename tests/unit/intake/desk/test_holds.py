"""Who may keep the nodes of a failed job, and for how long: refused at the door, with both numbers."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from shared.core.abilities import Ability
from shared.core.caller import KEY_HOLDER
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.intake.arrive import message_arrived
from shared.intake.rerun import rerun
from tests.unit.world import World, job_json


async def submitted(world: World, hold: str, **members: Any) -> Job:
    return (await world.message({"spec": job_json(), "hold": hold, **members}, f"m {hold} {members}")).job


def problem(job: Job) -> dict[str, Any]:
    (one,) = [one for one in job.problems if one["severity"] == "error"]
    return one


async def test_a_deployment_that_says_nothing_keeps_no_node(world: World) -> None:
    job = await submitted(world, "PT30M")

    assert job.state is JobState.REJECTED
    assert (problem(job)["code"], problem(job)["pointer"]) == ("SW110", "/hold")
    assert problem(job)["message"] == "hold is PT30M, and this deployment allows PT0S"
    assert problem(job)["remedy"] == "leave out hold, or ask the operator for it"


@pytest.mark.parametrize(
    ("hold", "is_accepted"), [("PT30M", True), ("PT1H", True), ("PT1H1S", False), ("PT0S", True)]
)
async def test_the_deployment_says_how_long(world: World, hold: str, is_accepted: bool) -> None:
    world.policy(max_hold=timedelta(hours=1))

    job = await submitted(world, hold)

    assert (job.state is not JobState.REJECTED) == is_accepted
    if not is_accepted:
        assert problem(job)["message"] == "hold is PT1H1S, and this deployment allows PT1H"
        assert problem(job)["remedy"] == "write at most PT1H"


@pytest.mark.parametrize(
    ("of_team", "hold", "code", "says"),
    [
        ("PT10M", "PT30M", "SW119", 'hold is PT30M, and the team "vision" allows PT10M'),
        ("PT0S", "PT1M", "SW119", 'hold is PT1M, and the team "vision" allows PT0S'),
        ("PT5H", "PT2H", "SW110", "hold is PT2H, and this deployment allows PT1H"),
        (None, "PT2H", "SW110", "hold is PT2H, and this deployment allows PT1H"),
    ],
)
async def test_a_team_s_jobs_are_held_within_its_own_limit(
    world: World, of_team: str | None, hold: str, code: str, says: str
) -> None:
    world.policy(max_hold=timedelta(hours=1))
    team = {} if of_team is None else {"hold": of_team}
    await world.ports.teams.put(Teams.model_validate({"default": "vision", "teams": {"vision": team}}), "")

    job = await submitted(world, hold)

    assert (problem(job)["code"], problem(job)["message"]) == (code, says)


async def test_a_cluster_that_cannot_keep_its_nodes_is_named_with_what_it_lacks(world: World) -> None:
    world.policy(max_hold=timedelta(hours=1))
    world.engine.abilities = {
        **world.engine.abilities,
        "hold": Ability("no", "needs `reads`"),
    }

    job = await submitted(world, "PT30M")

    assert (problem(job)["code"], problem(job)["pointer"]) == ("SW109", "/hold")
    assert problem(job)["message"] == "the nodes of dev cannot be kept after a failure: needs `reads`"


async def test_a_job_that_runs_again_is_held_as_the_first_one(world: World) -> None:
    world.policy(max_hold=timedelta(hours=1))
    job = await submitted(world, "PT30M")

    again = (await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="again")).job

    assert again.hold is not None
    assert again.hold.length == timedelta(minutes=30)


async def test_a_job_that_runs_again_is_held_within_today_s_limit(world: World) -> None:
    world.policy(max_hold=timedelta(hours=1))
    job = await submitted(world, "PT30M")
    world.policy(max_hold=timedelta(minutes=10))

    again = (await rerun(world.ports, job.id, None, who=KEY_HOLDER, key="again")).job

    assert problem(again)["message"] == "hold is PT30M, and this deployment allows PT10M"


async def test_each_job_of_a_sweep_is_held(world: World) -> None:
    world.policy(max_hold=timedelta(hours=1))
    message = {"spec": job_json(), "hold": "PT30M", "sweep": {"lr": [0.1, 0.2]}}
    await message_arrived(world.ports, json.dumps(message).encode(), "m1")

    jobs = [job for job in world.ledger.jobs if job.sweep]
    assert [job.hold and job.hold.length for job in jobs] == [timedelta(minutes=30)] * 2
