"""What a job is variables_of of the jobs that it waited for, and of which it is variables_of nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER
from shared.core.engine import Order
from shared.core.job import Job, JobState
from shared.core.teams.document import Teams
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived
from shared.intake.rerun import rerun
from shared.lifecycle.archive import archive
from shared.lifecycle.current_teams import forget_teams
from tests.unit.world import World, job_json

LOGS = "$AZ_BATCHAI_MOUNT_ROOT/logs"
OUTPUT = {"outputDirectories": [{"id": "MODEL", "pathPrefix": LOGS, "pathSuffix": "model"}]}


async def ask(world: World, name: str, properties: Mapping[str, Any] = OUTPUT, **members: Any) -> Job:
    return (await world.message({"name": name, "spec": job_json(**properties), **members}, name)).job


async def end(world: World, job: Job, state: JobState = JobState.SUCCEEDED, segment: str = "seg/1") -> None:
    target = (await world.job(job.id)).fixed_target
    world.engine.set_state(target.name, state, segment=segment)
    await world.make_pass()


def variables_of(order: Order) -> dict[str, str]:
    variables = order.document["properties"]["environmentVariables"]
    return {one["name"]: one["value"] for one in variables if one["name"].startswith("SLIPWAY_AFTER")}


async def test_a_job_reads_what_those_before_it_wrote_in_the_order_of_its_message(world: World) -> None:
    first, second = await ask(world, "data"), await ask(world, "more", {})
    await ask(world, "train", after=["more", first.id])
    await end(world, first)
    await end(world, second, segment="seg/2")

    order = world.engine.orders[-1]
    assert variables_of(order) == {
        "SLIPWAY_AFTER_1": second.id,
        "SLIPWAY_AFTER_1_STDOUTERR": f"{LOGS}/seg/2/stdouterr",
        "SLIPWAY_AFTER_2": first.id,
        "SLIPWAY_AFTER_2_STDOUTERR": f"{LOGS}/seg/1/stdouterr",
        "SLIPWAY_AFTER_2_MODEL": f"{LOGS}/seg/1/outputs/model",
    }
    assert [(one.number, one.is_known) for one in order.before] == [(1, True), (2, True)]


async def test_a_job_that_waits_for_a_failure_reads_what_that_left(world: World) -> None:
    first = await ask(world, "data")
    await ask(world, "report", afterFailure=["data"])
    await end(world, first, JobState.FAILED)

    assert variables_of(world.engine.orders[-1])["SLIPWAY_AFTER_1_MODEL"] == f"{LOGS}/seg/1/outputs/model"


async def test_a_rerun_reads_what_the_first_run_could_read(world: World) -> None:
    first = await ask(world, "data")
    second = await ask(world, "train", after=["data"])
    await end(world, first)
    await end(world, second)

    again = (await rerun(world.ports, second.id, None, who=KEY_HOLDER, key="k")).job

    assert (again.state, again.unmet) == (JobState.QUEUED, ())
    before, after = (variables_of(order) for order in world.engine.orders[-2:])
    assert before == after
    assert before["SLIPWAY_AFTER_1"] == first.id


@pytest.mark.parametrize("kind", ["environmentVariables", "secrets"])
async def test_a_job_sets_none_of_these_variables_itself(world: World, kind: str) -> None:
    forged = [{"name": name, "value": "/etc"} for name in ("SLIPWAY_AFTER_1", "SLIPWAY_AFTER_1_MODEL")]

    await ask(world, "alone", {kind: forged})

    assert "SLIPWAY_AFTER" not in str(world.engine.orders[-1].document)


@pytest.mark.parametrize("has_segment", [True, False])
async def test_an_archived_job_is_read_but_not_what_it_saved(world: World, has_segment: bool) -> None:
    first = await ask(world, "data")
    await end(world, first, segment="seg/1" if has_segment else "")
    world.pass_time(40 * 86_400)
    assert (await archive(world.ports)).jobs == 1

    await ask(world, "train", after=[first.id])

    (order,) = [one for one in world.engine.orders if one.target.token != f"{first.id}.1"]
    assert ("SLIPWAY_AFTER_1_MODEL" in variables_of(order)) is has_segment
    assert [one.is_known for one in order.before] == [False] * has_segment
    world.archive.blobs.clear()
    await ask(world, "later", after=[first.id])
    assert variables_of(world.engine.orders[-1]) == {"SLIPWAY_AFTER_1": first.id}


async def test_what_a_job_of_another_team_wrote_is_not_named(world: World) -> None:
    teams = {"default": "vision", "teams": {"vision": {}, "speech": {}}}
    assert await world.ports.teams.put(Teams.model_validate(teams), "") is not None
    forget_teams(world.ports.memo)
    first = await ask(world, "data", team="speech")
    second = await ask(world, "mine", team="vision")
    await end(world, first)
    await end(world, second)

    message = {"team": "vision", "spec": job_json(), "after": [first.id, second.id]}
    request = read_request(json.dumps(message).encode(), world.ports.policy.limits)
    await request_arrived(world.ports, request, door="http", source="http:", key="k", who=KEY_HOLDER)

    names = variables_of(world.engine.orders[-1])
    assert names["SLIPWAY_AFTER_1"] == first.id
    assert not [name for name in names if name.startswith("SLIPWAY_AFTER_1_")]
    assert "SLIPWAY_AFTER_2_MODEL" in names
