"""What stands in the query of a request: no call ignores a word of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import azure.functions as func
import pytest

from functions.openapi.operation import bordered, check_query, checked
from shared.core.errors import Misuse
from tests.unit.routes import ASKING, ROUTES
from tests.unit.world import World


def request(query: str, params: Mapping[str, str] | None = None, method: str = "GET") -> func.HttpRequest:
    return func.HttpRequest(
        method=method, url=f"https://slipway.example.com/api/jobs?{query}", params=params, body=b""
    )


def refusal(query: str, *name: str, params: Mapping[str, str] | None = None) -> Misuse:
    with pytest.raises(Misuse) as caught:
        check_query(request(query, params), name)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize("name", ROUTES)
async def test_every_call_refuses_a_parameter_that_it_does_not_know(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(ASKING[0], "ports", lambda: world.ports)
    handler: Any = ROUTES[name]

    answered = await handler(request("colour=blue"))

    problem = json.loads(answered.get_body())
    assert (answered.status_code, problem["detail"]) == (400, "there is no parameter 'colour'")
    assert "this call takes" in problem["remedy"]


def test_there_are_routes() -> None:
    assert len(ROUTES) > 20


@pytest.mark.parametrize("written", ["stat", "states", "State", "status"])
def test_the_nearest_parameter_is_named(written: str) -> None:
    result = refusal(f"{written}=failed", "state", "limit", "after")
    assert result.remedy == "did you mean state? this call takes state, limit, after"


def test_a_parameter_without_a_value_or_given_twice_is_refused() -> None:
    assert "state is empty" in str(refusal("state=", "state"))
    assert "state is empty" in str(refusal("state", "state"))
    assert "state is given more than once" in str(refusal("state=failed&state=lost", "state"))


def test_a_host_that_hands_on_the_parameters_alone_is_understood() -> None:
    request = func.HttpRequest(method="GET", url="/api/jobs", params={"colour": "blue"}, body=b"")
    with pytest.raises(Misuse, match="colour"):
        check_query(request, ("state",))


@pytest.mark.parametrize("query", ["", "code=k", "code=k&clientId=default", "state=failed&limit=3&code=k"])
def test_what_a_call_knows_and_the_function_key_are_taken(query: str) -> None:
    check_query(request(query), ("state", "limit"))


async def test_a_hostile_name_comes_back_short() -> None:
    async def handler(req: func.HttpRequest) -> func.HttpResponse:
        raise AssertionError

    answered = await bordered(checked(handler, ("state",)))(
        request(urlencode({"\x1b[31m" + "x" * 5000: "1"}))
    )
    assert answered.status_code == 400
    assert len(answered.get_body()) < 400
    assert b"\x1b" not in answered.get_body()


async def test_a_format_that_there_is_not_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ASKING:
        monkeypatch.setattr(module, "ports", lambda: world.ports)
    handler: Any = ROUTES["explain"]

    answered = await handler(request("format=xml", {"format": "xml"}, "POST"))

    problem = json.loads(answered.get_body())
    assert (answered.status_code, problem["remedy"]) == (400, "use json or markdown")
