"""Every request that the engine can make is one that the service describes, by its facts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import shared.engines.batch
from shared.engines.batch.account import Account
from shared.engines.batch.provision import provision
from shared.engines.batch.wire.client import API
from shared.engines.provisioning import Plan
from tests.unit.engines.batch.account import Request, account, error
from tests.unit.engines.batch.described import operation_at, refusal
from tests.unit.engines.batch.service import CLUSTER, KEY, Service, engine, order
from tests.unit.engines.batch.task_goldens import EVERYTHING

_ROOM = Path(shared.engines.batch.__file__).parent
_TASK: Mapping[str, Any] = {"id": "t", "commandLine": "true"}


def sites() -> set[tuple[str, str]]:
    """Each call of the client in the engine: method and path, with * for what is not written there."""
    return {site for file in _ROOM.rglob("*.py") for site in _sites(ast.parse(file.read_text("utf-8")))}


def _sites(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for function in (one for one in ast.walk(tree) if isinstance(one, ast.AsyncFunctionDef)):
        named = {
            target.id: one.value
            for one in ast.walk(function)
            if isinstance(one, ast.Assign)
            for target in one.targets
            if isinstance(target, ast.Name)
        }
        for one in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
            text = ast.unparse(one.func)
            if text.endswith("client.listed"):
                yield "GET", _text(one.args[0], named)
            elif text.endswith("client.call") and isinstance(one.args[0], ast.Constant):
                yield str(one.args[0].value), _text(one.args[1], named)
            elif text.endswith("client.call"):
                yield "POST", "/jobs" if "queue" in ast.unparse(one) else "/jobs/*/tasks"


def _text(value: ast.expr, named: Mapping[str, ast.expr]) -> str:
    if isinstance(value, ast.Name) and isinstance(named.get(value.id), ast.JoinedStr):
        return _text(named[value.id], named)
    if isinstance(value, ast.JoinedStr):
        return "".join(_text(part, named) for part in value.values)
    if isinstance(value, ast.FormattedValue):
        is_path = isinstance(value.value, ast.Name) and value.value.id == "path"
        return _text(value.value, named) if is_path else "*"
    return str(value.value) if isinstance(value, ast.Constant) else "*"


async def requests_of_an_engine() -> list[Request]:
    """The requests of an engine that does all that it can."""
    failed = {"id": "n1", "state": "starttaskfailed", "allocationTime": "1970-01-01T00:00:00Z"}
    refused = {"POST /pools/t4/nodes/n1/reboot": (409, error("NodeNotReady"))}
    service = Service(counts={"dedicated": {"startTaskFailed": 1}}, failed=[failed], fail={**refused})
    target = order().target
    async with engine(service) as batch:
        for one in (order(), order("wide", "j_w.1", **EVERYTHING)):
            await batch.submit(one)
        await batch.status("gpu", [target])
        service.task("digits-abc-1")["state"] = "running"
        for rank in (0, 1):
            await batch.entrance(target, {"properties": {"nodeCount": 2}}, rank)
        await batch.cancel(target)
        await batch.forget("gpu", [target])
        await batch.nodes("gpu")
    assert service.account is not None
    replies = {"GET /pools/t4": (404, error("PoolNotFound")), "POST /pools": (201, None)}
    async with account(
        lambda one: replies.get(f"{one.method} {one.path}", (200, {"value": []})), strict=True
    ) as running:
        cluster = type(CLUSTER)("gpu", running.url, "t4", "/s", max_nodes=4)
        for stage in provision(cluster, KEY, Plan(), Account(cluster)):
            assert [step async for step in stage.steps]
    return [*service.account.requests, *running.requests]


async def test_each_call_in_the_engine_is_made_and_the_service_takes_it() -> None:
    requests = await requests_of_an_engine()

    operations = {operation_at(one.method, one.path) for one in requests}
    starred = {(method, re.sub(r"\{\w+\}", "*", path)) for method, path in operations}
    assert sites() == starred
    assert {one.query["api-version"] for one in requests} == {API}
    assert [refusal(one.method, one.path, one.query, one.body) for one in requests] == [None] * len(requests)


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "code", "words"),
    [
        ("GET", "/nodecounts", {"maxresults": "11"}, None, "InvalidQueryParameterValue", "from 1 to 10"),
        ("GET", "/pools", {"maxresults": "1001"}, None, "InvalidQueryParameterValue", "from 1 to 1000"),
        ("GET", "/pools", {"$top": "1"}, None, "UnsupportedQueryParameter", "$top"),
        ("GET", "/pools/p", {"maxresults": "1"}, None, "UnsupportedQueryParameter", "maxresults"),
        ("POST", "/jobs", {}, {"id": "j"}, "MissingRequiredProperty", "poolInfo"),
        ("POST", "/jobs/j/tasks", {}, {**_TASK, "comandLine": "x"}, "InvalidRequestBody", "comandLine"),
        ("POST", "/jobs/j/tasks", {}, {**_TASK, "resourceFiles": {}}, "InvalidPropertyValue", "a list"),
        ("POST", "/jobs/j/disable", {}, {"disableTasks": "stop"}, "InvalidPropertyValue", "requeue"),
        ("PATCH", "/jobs/j", {}, {"priority": 1001}, "InvalidPropertyValue", "from -1000 to 1000"),
        ("PATCH", "/pools/p", {}, {"certificateReferences": []}, "InvalidRequestBody", "2025-06-01"),
        ("POST", "/pools/p/resize", {}, {"resizeTimeout": "5m"}, "InvalidPropertyValue", "ISO 8601"),
        ("POST", "/pools/p/removenodes", {}, {"nodeList": ["n"] * 101}, "InvalidPropertyValue", "100 items"),
    ],
)
def test_what_the_service_does_not_take_is_refused_by_name(
    method: str, path: str, query: dict[str, str], body: Any, code: str, words: str
) -> None:
    refused = refusal(method, path, {"api-version": API, **query}, body)

    assert refused is not None
    assert (refused.status, refused.code) == (400, code)
    assert any(words in value for value in refused.values.values())
