"""The text of a rejected document, which its record keeps so that it can be mended."""

from __future__ import annotations

import json

import pytest

from shared.core.job import JobState
from shared.core.ledger.listing import brief
from shared.core.view import line, whole
from tests.unit.world import World, job_json

WRONG = json.dumps({"name": "a", "spec": job_json(nodeCount=-1)}, indent=2)


async def test_the_text_is_kept_as_it_came(world: World) -> None:
    job = (await world.message(WRONG.encode())).job

    assert job.state is JobState.REJECTED
    assert job.received == WRONG
    assert whole(job)["received"] == WRONG
    assert "received" not in line(job)
    assert brief(job).received == ""
    assert world.receipt(job)["received"] == WRONG


async def test_the_first_problem_is_what_lists_and_events_say(world: World) -> None:
    job = (await world.message(WRONG.encode())).job

    assert job.last_error.startswith("message:5:20: SW013 spec.properties.nodeCount: ")
    assert line(job)["lastError"] == job.last_error == brief(job).last_error
    assert len(job.last_error) <= 300
    assert (await world.message(json.dumps(job_json()).encode(), "m2")).job.last_error == ""


async def test_secrets_and_values_of_unknown_members_are_not(world: World) -> None:
    document = {**job_json(nodeCount=-1), "mystery": {"deep": ["hunter2"]}}
    document["properties"]["secrets"] = [{"name": "A", "value": "hunter3"}]
    text = json.dumps({"spec": document}, indent=2)

    job = (await world.message(text.encode())).job

    assert job.state is JobState.REJECTED
    assert job.received.count('"***"') == 2
    assert "hunter" not in job.received
    assert len(job.received.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize(
    "text", ["sealed:v1:abcdef0123", "run --with sealed:v1:abcdef0123 now", "a\\u0041sealed:v1:abcdef0123"]
)
async def test_what_looks_like_a_sealed_value_is_not(world: World, text: str) -> None:
    wrong = WRONG.replace('"nodeCount"', f'"stdOutErrPathPrefix": "{text}", "nodeCount"').replace(
        '"stdOutErrPathPrefix": "$AZ', '"other": "$AZ'
    )

    job = (await world.message(wrong.encode())).job

    assert job.state is JobState.REJECTED
    assert "stdOutErrPathPrefix" in job.received
    assert "abcdef0123" not in job.received


async def test_what_is_no_json_keeps_its_shape_without_its_words(world: World) -> None:
    job = (await world.message(b'{"name": "a", "spec": {"secret": "hunter2" "x": ')).job

    assert job.state is JobState.REJECTED
    assert "hunter2" not in job.received


async def test_of_a_valid_document_and_of_a_long_one_no_text_is_kept(world: World) -> None:
    assert (await world.message(job_json(), "m1")).job.received == ""

    long = {"spec": job_json(nodeCount=-1), "labels": {"a": "x" * 24_000}}
    assert (await world.message(long, "m2")).job.received == ""
