"""What a job asks of its cluster: from every door into the order and the record, or refused at the door."""

from __future__ import annotations

import json
from typing import Any

from shared.core.caller import KEY_HOLDER
from shared.core.job import Job, JobState
from shared.core.view import whole
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.intake.arrive import blob_arrived
from shared.intake.rerun import rerun
from tests.unit.world import World, job_json

RESOURCES = {"gpus": 1, "memory": "16G", "options": {"licenses": "matlab:1"}}


async def test_what_a_message_asks_for_is_in_the_order_and_in_the_record(world: World) -> None:
    world.engine.allow = tuple(RESOURCES)

    accepted = await world.message({"spec": job_json(), "resources": RESOURCES})

    assert world.engine.orders[0].resources == RESOURCES
    assert (await world.job(accepted.job.id)).resources == RESOURCES
    assert whole(accepted.job)["resources"] == RESOURCES


async def test_a_drop_asks_by_its_envelope_and_a_rerun_asks_for_the_same(world: World) -> None:
    world.engine.allow = tuple(RESOURCES)
    world.drops.upload("digits/run/slipway.json", json.dumps({"resources": RESOURCES}).encode())
    world.drops.upload("digits/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(10)
    job = (await blob_arrived(world.ports, "scripts", "digits/run/job.json")).accepted[0].job
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()

    await rerun(world.ports, job.id, world.receipt(job), who=KEY_HOLDER, key="k")

    assert [order.resources for order in world.engine.orders] == [RESOURCES, RESOURCES]


async def test_what_the_cluster_does_not_give_is_refused_at_the_door_with_its_place(world: World) -> None:
    world.engine.allow = ("gpus",)

    job = (await world.message({"spec": job_json(), "resources": RESOURCES})).job

    assert job.state is JobState.REJECTED
    places = [(p["code"], p["pointer"]) for p in _errors(job)]
    assert places == [("SW109", "/resources/memory"), ("SW109", "/resources/options")]
    assert job.problems[0]["line"] > 0
    assert world.engine.orders == []


async def test_a_drop_is_refused_in_its_own_file(world: World) -> None:
    world.drops.upload("digits/run/slipway.json", b'{\n "resources": {"gpus": 1}}')
    world.drops.upload("digits/run/job.json", json.dumps(job_json()).encode())
    world.pass_time(10)

    job = (await blob_arrived(world.ports, "scripts", "digits/run/job.json")).accepted[0].job

    (problem,) = _errors(job)
    assert (problem["file"], problem["line"]) == ("digits/run/slipway.json", 2)
    assert "remove gpus" in problem["remedy"]


async def test_the_same_key_with_other_resources_is_another_payload(world: World) -> None:
    world.engine.allow = ("gpus",)
    message: dict[str, Any] = {"spec": job_json(), "idempotencyKey": "k", "resources": {"gpus": 1}}
    first = await world.message(message)
    assert (await world.message(message, "m2")).job.id == first.job.id

    again = await world.message({**message, "resources": {"gpus": 2}}, "m3")

    assert again.job.state is JobState.REJECTED
    assert [p["code"] for p in _errors(again.job)] == ["SW108"]
    assert len(world.engine.orders) == 1


def test_a_secret_among_the_options_is_not_shown(world: World) -> None:
    request = {"options": {"extra": "password=canary-4711 --x"}}
    job = Job.model_validate({**_record(world), "resources": request})

    assert "canary" not in json.dumps(whole(job))


def test_batch_ai_gives_whole_nodes_and_says_so_of_each_resource() -> None:
    engine = BatchAIEngine(Workspace("https://management.azure.com", "s", "g", "w"))

    problems = engine.allots("dev", RESOURCES)

    assert [one.pointer for one in problems] == [f"/resources/{name}" for name in RESOURCES]
    assert all("Batch AI give whole nodes" in one.message for one in problems)


def _errors(job: Job) -> list[dict[str, Any]]:
    return [one for one in job.problems if one["severity"] == "error"]


def _record(world: World) -> dict[str, Any]:
    now = world.now
    return {
        "id": "j_1", "key": "k", "payload": "p", "door": "http", "name": "n", "experiment": "e",
        "cluster": "dev", "state": "queued", "created": now, "due": now,
    }  # fmt: skip
