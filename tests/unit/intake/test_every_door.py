"""What only a deployment knows of a job is reported through every door alike, at its place in the text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from shared.core.job import Drop
from shared.core.messages import digest
from shared.intake.arrive import message_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.inventory import inventory
from shared.intake.message import read_request
from shared.intake.request_door import request_arrived, request_explained, request_validated
from shared.jobspec import JobSpec, Problem
from shared.jobspec.report import problems_as_json
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import Engines, World, job_json

Problems = list[dict[str, Any]]
Door = Callable[[World, str], Awaitable[Problems]]


async def by_drop(world: World, text: str) -> Problems:
    world.drops.upload("digits/job.json", text.encode())
    world.pass_time(60)
    (accepted,) = (await look_at_folder(world.ports, "digits/")).accepted
    return list(accepted.job.problems)


async def by_queue(world: World, text: str) -> Problems:
    (accepted,) = await message_arrived(world.ports, text.encode(), digest(text))
    return list(accepted.job.problems)


async def by_http(world: World, text: str) -> Problems:
    request = read_request(text.encode(), world.ports.policy.limits)
    accepted = await request_arrived(world.ports, request, door="http", source="", key=digest(text))
    return list(accepted.job.problems)


async def by_validate(world: World, text: str) -> Problems:
    request = read_request(text.encode(), world.ports.policy.limits)
    return problems_as_json((await request_validated(world.ports, request)).problems)


async def by_explain(world: World, text: str) -> Problems:
    request = read_request(text.encode(), world.ports.policy.limits)
    body = await request_explained(world.ports, request, source="http:", key=None)
    return list(body["problems"])


REQUESTS: dict[str, Door] = {
    "queue": by_queue,
    "http": by_http,
    "validate": by_validate,
    "explain": by_explain,
}
DOORS: dict[str, Door] = {"drop": by_drop, **REQUESTS}

MPI = '{"properties": {\n  "nodeCount": 2,\n  "customMpiSettings": {"commandLine": "true"}%s\n}}'


def places_of(problems: Problems, code: str) -> list[tuple[int, int, str, str]]:
    return [(p["line"], p["column"], p["severity"], p["message"]) for p in problems if p["code"] == code]


#: Under the limit of a document as it is sent, and far over that of a row once each token is sealed.
GROWS = json.dumps(
    job_json(environmentVariables=[{"name": f"A{n}", "value": "token=x " * 1500} for n in range(8)])
)


@pytest.mark.parametrize("door", DOORS)
async def test_a_document_that_is_too_large_once_it_is_sealed_is_refused(world: World, door: str) -> None:
    problems = await DOORS[door](world, GROWS)

    (message,) = (p["message"] for p in problems if p["code"] == "SW001")
    assert "500000 can be kept" in message


@pytest.mark.long
async def test_a_document_that_is_too_large_spoils_no_other(world: World) -> None:
    texts = [GROWS if n % 5 == 0 else json.dumps(job_json()) for n in range(10)]
    bodies = (message_arrived(world.ports, text.encode(), f"m{n}") for n, text in enumerate(texts))

    jobs = [accepted[0].job for accepted in await asyncio.gather(*bodies)]

    assert [job.state.value for job in jobs] == ["rejected" if n % 5 == 0 else "queued" for n in range(10)]


@pytest.mark.parametrize("door", DOORS)
async def test_what_the_engine_cannot_do_is_refused_at_its_place(world: World, door: str) -> None:
    world.engine.cannot = {"customMpiSettings": "this engine has no MPI"}

    problems = await DOORS[door](world, MPI % "")

    assert places_of(problems, "SW109") == [(3, 24, "error", "this engine has no MPI")]
    assert world.engine.started == []


@pytest.mark.parametrize("door", DOORS)
async def test_what_the_engine_cannot_do_is_reported_with_other_errors(world: World, door: str) -> None:
    world.engine.cannot = {"customMpiSettings": "this engine has no MPI"}
    more = ',\n  "inputDirectories": [{"id": "A", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/x"}]'

    problems = await DOORS[door](world, MPI % more)

    assert [p["code"] for p in problems if p["severity"] == "error"] == ["SW109", "SW033"]


SCRIPTS = {
    "azureBlobFileSystems": [
        {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
    ]
}


def running(name: str, account: str = "acct") -> str:
    """A job that mounts the drop container itself, as one by message has to."""
    volumes = json.loads(json.dumps(SCRIPTS).replace("acct", account))
    command = {"commandLine": f"bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{name}"}
    properties = {"nodeCount": 1, "mountVolumes": volumes, "customToolkitSettings": command}
    return json.dumps({"properties": properties}, indent=1)


@pytest.mark.parametrize("door", REQUESTS)
async def test_a_script_that_is_not_in_the_container_is_warned_of(world: World, door: str) -> None:
    ((line, _, severity, message),) = places_of(
        await REQUESTS[door](world, running("digits/trian.sh")), "SW070"
    )

    assert '"bash $AZ_' in running("digits/trian.sh").splitlines()[line - 1]
    assert severity == "warning"
    assert message == '"digits/trian.sh" is not in the container scripts'


@pytest.mark.parametrize("door", REQUESTS)
async def test_a_script_with_the_line_ends_of_windows_is_warned_of(world: World, door: str) -> None:
    world.drops.upload("digits/train.sh", b"#!/bin/sh\r\necho 1\r\n")

    problems = await REQUESTS[door](world, running("digits/train.sh"))

    assert [p["code"] for p in problems] == ["SW071"]


@pytest.mark.parametrize("door", REQUESTS)
async def test_a_script_in_order_is_left_alone_and_so_is_one_of_another_account(
    world: World, door: str
) -> None:
    world.use(account_keys={"acct": "key", "other": "key"})
    world.drops.upload("digits/train.sh", b"#!/bin/sh\necho 1\n")

    assert await REQUESTS[door](world, running("digits/train.sh")) == []
    assert await REQUESTS[door](world, running("digits/trian.sh", "other")) == []


@pytest.mark.parametrize("door", REQUESTS)
async def test_a_script_that_cannot_be_read_now_is_not_called_missing(world: World, door: str) -> None:
    world.drops.upload("digits/train.sh", b"#" * (2 << 20))

    assert await REQUESTS[door](world, running("digits/train.sh")) == []


async def test_the_scripts_of_a_folder_that_is_only_explained_need_not_be_there(world: World) -> None:
    request = read_request(running("digits/run/train.sh").encode(), world.ports.policy.limits)
    drop = Drop(container="scripts", folder="digits/run", job_file="job.json", files={}, etags={})

    body = await request_explained(world.ports, request, source="", key=None, drop=drop)

    assert body["problems"] == []


BAD_MESSAGE = (
    '{"nmae": "x",\n "cluster": "nowhere",\n "labels": {"a b": ""},\n'
    ' "spec": {"properties": {"nodeCuont": 1}},\n "notify": [{"url": "https://10.0.0.1/x"}]}'
)
EVENT = '{"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "s", "id": "1",\n"data": %s}'


@pytest.mark.parametrize("door", REQUESTS)
async def test_all_that_is_wrong_with_a_message_comes_at_once_in_its_order(world: World, door: str) -> None:
    problems = await REQUESTS[door](world, BAD_MESSAGE)

    assert [(p["line"], p["code"]) for p in problems] == [
        (1, "SW012"),
        (3, "SW062"),
        (4, "SW020"),
        (4, "SW047"),
        (4, "SW012"),
        (5, "SW103"),
    ]


@pytest.mark.parametrize("text", [EVENT, f"[{EVENT}]", EVENT.replace('"1",', '"1",,')])
async def test_and_in_an_event_whether_it_can_be_read_or_not(world: World, text: str) -> None:
    problems = await by_queue(world, text % BAD_MESSAGE)

    codes = [(p["line"], p["code"]) for p in problems if p["code"] != "SW003"]
    assert codes == [(2, "SW012"), (4, "SW062"), (5, "SW020"), (5, "SW047"), (5, "SW012"), (6, "SW103")]


async def test_what_can_be_made_out_of_a_bad_message_names_its_rejection(world: World) -> None:
    accepted = await world.message({"name": "digits", "lables": {}, "spec": job_json()})

    assert accepted.job.state.value == "rejected"
    assert accepted.job.name == "digits"


@pytest.mark.parametrize("data", ['"{}"', "null", "[]", "7"])
async def test_an_event_without_a_message_says_what_it_lacks(world: World, data: str) -> None:
    problems = await by_queue(world, EVENT % data)

    assert [p["code"] for p in problems] == ["SW008"]
    assert problems[0]["line"] == 2
    assert "data_base64" in problems[0]["remedy"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("count", [142_857_143, 200_000_000, 2**31, 10**31])
async def test_more_nodes_than_any_clock_can_count_meet_the_limit_of_the_deployment(
    world: World, door: str, count: int
) -> None:
    document = {"properties": {"nodeCount": count, "customToolkitSettings": {"commandLine": "hostname"}}}

    problems = await DOORS[door](world, json.dumps(document))

    errors = [(p["code"], p["message"]) for p in problems if p["severity"] == "error"]
    assert errors == [("SW013", '"nodeCount" has to be at most 100')]


@pytest.mark.parametrize("number", [-(10**31), -1, 0, 2**31 - 1, 10**31, 1e308, 1e-308, "9" * 5000])
@pytest.mark.parametrize("member", ["nodeCount", "processCount", "maxWallClockTime", "gpus", "user"])
async def test_no_number_stops_the_doors(world: World, member: str, number: Any) -> None:
    document: dict[str, Any] = {
        "nodeCount": 1,
        "customMpiSettings": {"commandLine": "hostname", "processCount": 1},
        "constraints": {"maxWallClockTime": "P1D"},
    }
    message: dict[str, Any] = {
        "retry": {"user": 1},
        "resources": {"gpus": 1},
        "spec": {"properties": document},
    }
    for holder in (document, document["customMpiSettings"], document["constraints"], *message.values()):
        if member in holder:
            holder[member] = f"P{number}D" if member == "maxWallClockTime" else number

    for name, door in DOORS.items():
        problems = await door(world, json.dumps(message))

        assert "SW111" not in {p["code"] for p in problems}, name


class Defective(MemoryEngine):
    """Its check fails, and what it says about that quotes the job."""

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        raise ArithmeticError("canary-77")


@pytest.mark.parametrize("door", DOORS)
async def test_a_defect_of_ours_is_answered_at_every_door_and_quotes_nothing(world: World, door: str) -> None:
    world.use(engines=Engines(Defective()))

    problems = await DOORS[door](world, json.dumps(job_json()))

    (one,) = problems
    assert (one["code"], one["severity"]) == ("SW111", "error")
    assert one["message"] == "the document could not be checked"


async def test_a_drop_that_meets_a_defect_has_its_receipt_and_is_not_looked_at_again(world: World) -> None:
    world.use(engines=Engines(Defective()))
    world.drops.upload("digits/job.json", json.dumps(job_json()).encode())
    world.pass_time(60)

    first, again = await inventory(world.ports), await inventory(world.ports)

    assert (first.looked, first.accepted, again.looked) == (1, 1, 0)
    assert any("SW111" in file.decode() for file in world.drops.receipt_files.values())
