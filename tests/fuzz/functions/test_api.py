"""Requests drawn from the OpenAPI document, by schemathesis: each answer is described."""

from __future__ import annotations

import asyncio
from typing import Any

import azure.functions as func
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from functions.openapi.operations import OPERATIONS
from shared.core.job import JobState
from tests.breadth import examples, pairs
from tests.unit.functions.calls import call, use
from tests.unit.functions.test_described import CLOSED
from tests.unit.world import World, job_json

#: Not that a request which the schemas allow is accepted: a job file has more rules than a schema can say.
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(CLOSED)
BY_NAME = {name: SCHEMA.find_operation_by_id(name) for name in OPERATIONS}
#: Nothing about a request to a public operation without parameters can be wrong.
CASES = [(name, GenerationMode.POSITIVE) for name, operation in OPERATIONS.items() if operation.public]
CASES += pairs(
    [name for name, operation in OPERATIONS.items() if not operation.public],
    [GenerationMode.POSITIVE, GenerationMode.NEGATIVE],
)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    use(world, monkeypatch)
    return world


async def a_job(world: World) -> str:
    """One that failed, with a receiver and files."""
    receiver = {"url": "https://hooks.example.com/x"}
    job = (await world.message({"spec": job_json(), "notify": [receiver]})).job
    world.engine.output |= {"stdout.txt": b"hello", "models/a.bin": b"0123456789"}
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.sweep()
    return job.id


def prepared(case: Any) -> requests.PreparedRequest:
    """The request on the wire, as an HTTP client would write it."""
    kwargs = case.as_transport_kwargs(base_url="http://slipway")
    return requests.Request(**{key: value for key, value in kwargs.items() if key != "timeout"}).prepare()


def answered(request: requests.PreparedRequest) -> func.HttpResponse:
    body = request.body or b""
    assert isinstance(body, str | bytes)
    address = str(request.url).removeprefix("http://slipway")
    headers = {str(name): str(value) for name, value in request.headers.items()}
    return asyncio.run(
        call(str(request.method), address, headers, body.encode() if isinstance(body, str) else body)
    )


def response_of(answer: func.HttpResponse, request: requests.PreparedRequest) -> Response:
    headers = {name.lower(): [value] for name, value in answer.headers.items()}
    headers["content-type"] = [answer.mimetype]
    return Response(answer.status_code, headers, answer.get_body(), request, 0.0, verify=False)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_answer_is_described(name: str, mode: GenerationMode, api: World) -> None:
    names = {"id": asyncio.run(a_job(api)), "directory": "stdouterr", "path": "models/a.bin"}
    operation = BY_NAME[name]

    @settings(
        max_examples=examples(50), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode), real=st.booleans())
    def check(case: Any, real: bool) -> None:
        if real:
            levels = operation.definition.raw.get("parameters", ())
            case.path_parameters = {one["name"]: names[one["name"]] for one in levels if one["in"] == "path"}
        request = prepared(case)
        case.validate_response(response_of(answered(request), request), checks=CHECKS)

    check()
