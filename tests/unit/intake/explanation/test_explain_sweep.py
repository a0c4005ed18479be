"""What explain says of a sweep: how many jobs it has, and what would happen to the first of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.intake.explanation.explain_text import markdown
from shared.intake.message import read_request
from shared.intake.request_door import request_explained, sweep_requested
from shared.operate import listing
from tests.unit.world import World, job_json

JOB = job_json(customToolkitSettings={"commandLine": "python train.py --lr {lr} --seed {seed}"})
SWEEP = {"name": "tune", "sweep": {"lr": [0.1, 0.01], "seed": {"range": [0, 8]}}, "parallel": 4, "spec": JOB}


async def explained(world: World, document: Any, key: str | None = None) -> dict[str, Any]:
    request = read_request(json.dumps(document).encode(), world.ports.policy.limits)
    return await request_explained(world.ports, request, source="http:ann", key=key)


async def submitted(world: World, document: Any, key: str) -> str:
    """The id of the sweep that this request makes."""
    request = read_request(json.dumps(document).encode(), world.ports.policy.limits)
    result = await sweep_requested(world.ports, request, door="http", source="http:ann", key=key)
    return result.accepted.id


async def test_it_says_how_many_jobs_there_are_and_explains_the_first(world: World) -> None:
    body = await explained(world, SWEEP)

    assert body["verdict"] == "runs"
    assert body["summary"].startswith("A sweep of 16 jobs, at most 4 at once; this is the first, with lr=0.1")
    assert body["sweep"] == {
        "jobs": 16,
        "parallel": 4,
        "values": {"lr": 0.1, "seed": 0},
        "existing": None,
    }
    assert "--lr 0.1 --seed 0" in json.dumps(body["document"])
    variables = {one["name"]: one["value"] for one in body["environment"]}
    assert (variables["SLIPWAY_SWEEP_LR"], variables["SLIPWAY_SWEEP_SEED"]) == ("0.1", "0")
    assert "A sweep of 16 jobs" in markdown(body)
    assert world.ledger.rows == {}


async def test_the_first_job_is_called_as_it_will_be(world: World) -> None:
    body = await explained(world, SWEEP)
    sweep = await submitted(world, SWEEP, "k")

    jobs = (await listing.jobs(world.ports, {"sweep": sweep})).jobs
    (first,) = (job for job in jobs if job.sweep and job.sweep.index == 0)
    assert (body["job"]["name"], body["job"]["experiment"]) == (first.name, first.experiment)


@pytest.mark.parametrize(("values", "words"), [([1], "A sweep of 1 job;"), ([1, 2], "of 2 jobs, at most 2")])
async def test_without_a_bound_all_jobs_are_at_work_at_once(
    world: World, values: list[int], words: str
) -> None:
    body = await explained(world, {"sweep": {"seed": values}, "spec": JOB})

    assert words in body["summary"]
    assert body["sweep"]["parallel"] == len(values)


async def test_a_sweep_that_is_there_is_joined_by_the_same_key_and_refused_to_another_document(
    world: World,
) -> None:
    assert "joins the sweep" in (await explained(world, SWEEP, "k"))["job"]["duplicates"]
    identity = await submitted(world, SWEEP, "k")

    same = await explained(world, SWEEP, "k")
    other = await explained(world, {**SWEEP, "parallel": 2}, "k")
    unkeyed = await explained(world, SWEEP)

    assert (same["verdict"], same["sweep"]["existing"]) == ("duplicate", identity)
    assert identity in same["summary"]
    assert (other["verdict"], other["sweep"]["existing"]) == ("refused", None)
    assert unkeyed["verdict"] == "runs"
    assert "a job of its own" in unkeyed["job"]["duplicates"]


async def test_a_sweep_with_problems_is_rejected_as_any_other_document(world: World) -> None:
    body = await explained(world, {**SWEEP, "sweep": {"lr": []}})

    assert body["verdict"] == "rejected"
    assert [one["code"] for one in body["problems"] if one["severity"] == "error"] == ["SW069"]
    assert "sweep" not in body
