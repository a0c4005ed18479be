"""What the doors tell of a bad document: every problem in its file, at its line, with the line itself."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.intake.desk.prepare import prepare
from shared.intake.drops.drop import look_at_folder
from shared.intake.message import read_request
from shared.jobspec import Limits
from shared.jobspec.report import as_json
from tests.unit.world import World, job_json

BAD = '{"properties": {\n  "nodeCuont": 1,\n  "customToolkitSettings": {"commandLine": "true"}\n}}'


def problems_of(job: Job) -> list[tuple[Any, ...]]:
    errors = [problem for problem in job.problems if problem["severity"] == "error"]
    return [(one["file"], one["line"], one["column"], one["code"]) for one in errors]


async def dropped(world: World, **files: str) -> Job:
    for name, text in files.items():
        world.drops.upload(f"digits/{name}.json", text.encode())
    world.pass_time(60)
    (accepted,) = (await look_at_folder(world.ports, "digits/")).accepted
    await world.make_pass()
    return await world.job(accepted.job.id)


async def test_a_rejected_drop_finds_its_diagnostics_as_text_and_as_json(world: World) -> None:
    job = await dropped(world, job=BAD)

    text = world.drops.receipt_files[f"{job.receipt}/diagnostics.txt"].decode()
    assert (
        'digits/job.json:2:3: error SW012 properties.nodeCuont: unknown property; did you mean "nodeCount"?\n'
        '  |   "nodeCuont": 1,\n'
        "  |   ^^^^^^^^^^^\n"
        '    write "nodeCount" (--fix does it) · docs/rules/SW012.md\n'
    ) in text
    whole = json.loads(world.drops.receipt_files[f"{job.receipt}/diagnostics.json"])
    assert whole["valid"] is False
    assert whole["problems"] == list(job.problems)
    assert {problem["help"] for problem in whole["problems"]} >= {"docs/rules/SW012.md"}


async def test_diagnostics_link_to_where_the_deployment_has_the_pages(world: World) -> None:
    world.policy(rules_url="https://example.com/rules/")

    job = await dropped(world, job=BAD)

    text = world.drops.receipt_files[f"{job.receipt}/diagnostics.txt"].decode()
    assert "· https://example.com/rules/SW012.md\n" in text
    assert job.problems[0]["help"].startswith("https://example.com/rules/SW")


async def test_problems_of_the_envelope_beside_a_drop_stand_in_its_own_file(world: World) -> None:
    job = await dropped(
        world,
        job=BAD,
        slipway='{\n "labels": {"a b": ""},\n "notify": [{"url": "https://10.0.0.1/x"}]}',
    )

    assert ("digits/slipway.json", 2, 13, "SW062") in problems_of(job)
    assert ("digits/job.json", 2, 3, "SW012") in problems_of(job)


async def test_a_refused_receiver_beside_a_drop_stands_in_its_own_file(world: World) -> None:
    good = json.dumps(job_json())
    job = await dropped(world, job=good, slipway='{\n "notify": [{"url":\n "https://10.0.0.1/x"}]}')

    assert problems_of(job) == [("digits/slipway.json", 3, 2, "SW103")]


async def test_what_stands_behind_a_mistake_of_syntax_is_reported_as_well(world: World) -> None:
    job = await dropped(world, job=BAD.replace("1,", "1, // one"))

    assert ("digits/job.json", 2, 19, "SW003") in problems_of(job)
    assert ("digits/job.json", 2, 3, "SW012") in problems_of(job)
    assert job.state is JobState.REJECTED
    assert await world.ledger.spec(job.id) is None


async def test_problems_of_a_message_and_of_the_job_inside_come_together(world: World) -> None:
    text = '{"name": "a b",\n "spec": ' + BAD + "}"
    plain = await world.message(text.encode(), "m1")
    encoded = await world.message(base64.b64encode(text.encode()), "m2")

    assert ("message", 1, 10, "SW061") in problems_of(plain.job)
    assert ("message", 3, 3, "SW012") in problems_of(plain.job)
    assert problems_of(encoded.job) == problems_of(plain.job)


async def test_problems_of_a_cloud_event_stand_where_its_data_stands(world: World) -> None:
    event = {"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "s", "id": "1"}
    text = json.dumps(event)[:-1] + ',\n"data": {"spec": ' + BAD + "}}"

    accepted = await world.message(text.encode())

    assert ("message", 3, 3, "SW012") in problems_of(accepted.job)


async def test_problems_of_a_blob_stand_in_the_blob(world: World) -> None:
    world.drops.upload("digits/job.json", BAD.encode())

    accepted = await world.message(
        {"specBlob": "scripts/digits/job.json", "notify": [{"url": "https://127.0.0.1/"}]}
    )

    assert ("scripts/digits/job.json", 2, 3, "SW012") in problems_of(accepted.job)
    assert ("message", 1, 60, "SW103") in problems_of(accepted.job)


async def test_a_message_with_a_secret_shows_it_nowhere(world: World) -> None:
    text = '{"properties": {"secrets": [{"name": "A", "value": "canary-12", "x": 1}],'
    text += ' "accountkey": "canary-34"}}'
    for number, body in enumerate((text, text.replace("}]", ",}]"), text.replace('"', "'"), text[:-20])):
        accepted = await world.message(body.encode(), f"m{number}")
        assert accepted.job.state is JobState.REJECTED
    await world.make_pass()

    assert "canary" not in str(world.ledger.rows) + str(world.drops.receipt_files)


def test_validation_answers_what_the_command_line_prints(world: World) -> None:
    request = read_request(BAD.encode(), Limits())

    prepared = prepare(world.ports, request, key="k")

    answer = as_json(prepared.problems, valid=prepared.valid, notes=prepared.notes)
    assert answer.keys() == {"valid", "problems", "notes"}
    unknown = next(one for one in answer["problems"] if one["code"] == "SW012")
    assert unknown["patch"] == [
        {"op": "move", "from": "/properties/nodeCuont", "path": "/properties/nodeCount"}
    ]
    assert unknown["edits"] == [
        {"line": 2, "column": 3, "endLine": 2, "endColumn": 14, "text": '"nodeCount"'}
    ]


async def test_a_good_job_is_recorded_without_errors_and_its_hints_have_places(world: World) -> None:
    image = {"imageSourceRegistry": {"image": "ubuntu"}}

    accepted = await world.message(job_json(containerSettings=image))

    assert accepted.job.state is not JobState.REJECTED
    hint = next(one for one in accepted.job.problems if one["code"] == "SW072")
    assert hint["severity"] == "hint"
    assert hint["source"]


async def test_a_dropped_script_with_the_line_ends_of_windows_is_reported_and_runs(world: World) -> None:
    script = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run.sh"
    document = job_json(customToolkitSettings={"commandLine": f"bash {script}"})
    world.drops.upload("digits/run.sh", b"#!/bin/sh\r\necho 1\r\n")

    job = await dropped(world, job=json.dumps(document))

    assert job.state is not JobState.REJECTED
    warning = next(one for one in job.problems if one["code"] == "SW071")
    assert warning["severity"] == "warning"
    assert (warning["file"], warning["line"]) == ("digits/job.json", 1)


#: Where a dropped folder may have an idempotency key.
KEYED = {
    "job.json": {"job": json.dumps({"idempotencyKey": "canary", "spec": job_json()})},
    "slipway.json": {"job": json.dumps(job_json()), "slipway": '{"idempotencyKey": "canary"}'},
}


@pytest.mark.parametrize("file", KEYED)
async def test_an_idempotency_key_in_a_drop_is_a_warning_of_the_job(world: World, file: str) -> None:
    job = await dropped(world, **KEYED[file])

    assert job.state is not JobState.REJECTED
    (warning,) = [one for one in job.problems if one["code"] == "SW115"]
    assert (warning["severity"], warning["file"], warning["pointer"]) == (
        "warning",
        f"digits/{file}",
        "/idempotencyKey",
    )
    assert "canary" not in json.dumps(job.problems)


@pytest.mark.parametrize("key", ['""', "null"])
async def test_a_drop_without_a_key_has_no_warning_of_one(world: World, key: str) -> None:
    text = '{"idempotencyKey": ' + key + ', "spec": ' + json.dumps(job_json()) + "}"
    job = await dropped(world, job=text)

    assert "SW115" not in [one["code"] for one in job.problems]
