"""Requests drawn from the OpenAPI document, by schemathesis: each answer is described."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import azure.functions as func
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.openapi.elements import OPERATIONS
from shared.core.job import JobState
from tests.breadth import pairs, size
from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json

#: Nothing about a request to a public operation without parameters can be wrong.
CASES = [(name, "positive") for name, operation in OPERATIONS.items() if operation.public]
CASES += pairs(
    [name for name, operation in OPERATIONS.items() if not operation.public],
    ["positive", "negative"],
)


# Schemathesis is imported where it is used: its import takes longer than all others of the tests together.
@cache
def schema() -> Any:
    import schemathesis

    from tests.unit.functions.test_described import CLOSED

    return schemathesis.openapi.from_dict(CLOSED)


@cache
def conformance() -> list[Any]:
    """Not that a request which the schemas allow is accepted: a job file has more rules than they can say."""
    from schemathesis.specs.openapi import checks

    return [
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]


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
    await world.make_pass()
    return job.id


def prepared(case: Any) -> Any:
    """The request on the wire, as an HTTP client would write it."""
    import requests

    kwargs = case.as_transport_kwargs(base_url="http://slipway")
    return requests.Request(**{key: value for key, value in kwargs.items() if key != "timeout"}).prepare()


def answered(request: Any) -> func.HttpResponse:
    body = request.body or b""
    assert isinstance(body, str | bytes)
    address = str(request.url).removeprefix("http://slipway")
    headers = {str(name): str(value) for name, value in request.headers.items()}
    return asyncio.run(
        call(str(request.method), address, headers, body.encode() if isinstance(body, str) else body)
    )


def response_of(answer: func.HttpResponse, request: Any) -> Any:
    from schemathesis.core.transport import Response

    headers = {name.lower(): [value] for name, value in answer.headers.items()}
    headers["content-type"] = [answer.mimetype]
    return Response(answer.status_code, headers, answer.get_body(), request, 0.0, verify=False)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_every_answer_is_described(name: str, mode: str, api: World) -> None:
    from schemathesis.generation import GenerationMode

    names = {
        "id": asyncio.run(a_job(api)),
        "directory": "stdouterr",
        "path": "models/a.bin",
        "sha256": "a" * 64,
    }
    operation = schema().find_operation_by_id(name)
    generation = GenerationMode(mode)

    @settings(
        max_examples=size(50, 8), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=generation), real=st.booleans())
    def check(case: Any, real: bool) -> None:
        if real:
            levels = operation.definition.raw.get("parameters", ())
            case.path_parameters = {one["name"]: names[one["name"]] for one in levels if one["in"] == "path"}
        request = prepared(case)
        case.validate_response(response_of(answered(request), request), checks=conformance())

    check()
