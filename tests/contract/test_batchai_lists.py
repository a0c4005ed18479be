"""A list of jobs of a service that answers badly: broken off, or with a text that is none."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from shared.core.errors import Transient
from shared.core.job import JobState, Target
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.code import TOKEN
from shared.engines.batchai.engine import BatchAIEngine
from tests.doubles.server import answering


def _job(name: str, state: str = "running", command: str = "true", token: str = "t") -> dict[str, Any]:
    properties = {"executionState": state, "customToolkitSettings": {"commandLine": command}}
    return {
        "name": name,
        "properties": properties | {"environmentVariables": [{"name": TOKEN, "value": token}]},
    }


@asynccontextmanager
async def _service(body: bytes, broken: int) -> AsyncIterator[tuple[BatchAIEngine, list[int]]]:
    """An engine of a service whose first answers break off, and how many it has given."""
    answered: list[int] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        whole = len(answered) >= broken
        answered.append(len(body))
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body if whole else body[: len(body) // 2])
        if not whole and request.transport is not None:
            request.transport.close()
        return response

    async with answering(answer) as url:
        engine = BatchAIEngine(Workspace(url, "s", "g", "w"))
        try:
            yield engine, answered
        finally:
            await engine.close()


async def _status(engine: BatchAIEngine, *names: str) -> dict[str, JobState]:
    targets = [Target(engine="batchai", cluster="c", experiment="e", name=name, token="t") for name in names]
    return {name: observation.state for name, observation in (await engine.status("c", targets)).items()}


async def test_an_answer_that_breaks_off_is_asked_for_once_more() -> None:
    body = json.dumps({"value": [_job("a")]}).encode()

    async with _service(body, broken=1) as (engine, answered):
        assert await _status(engine, "a") == {"a": JobState.RUNNING}
        assert len(answered) == 2


async def test_a_service_whose_answers_always_break_off_says_nothing_about_any_job() -> None:
    body = json.dumps({"value": [_job("a")]}).encode()

    async with _service(body, broken=9) as (engine, answered):
        with pytest.raises(Transient):
            await _status(engine, "a")
        assert len(answered) == 2


async def test_a_job_with_half_a_surrogate_hides_no_other_one_of_its_page() -> None:
    body = json.dumps({"value": [_job("a", command="\ud800"), _job("b", "queued")]}).encode()

    async with _service(body, broken=0) as (engine, _):
        assert await _status(engine, "a", "b") == {"a": JobState.RUNNING, "b": JobState.QUEUED}


@pytest.mark.parametrize(
    "properties",
    [
        {"executionState": "succeeded", "executionInfo": {"endTime": "yesterday"}},
        {"executionState": "failed", "executionInfo": {"errors": "boom"}},
        1,
    ],
    ids=["time", "errors", "properties"],
)
async def test_a_job_that_cannot_be_understood_hides_no_other_one_of_its_page(properties: Any) -> None:
    body = json.dumps({"value": [{"name": "a", "properties": properties}, _job("b")]}).encode()

    async with _service(body, broken=0) as (engine, _):
        assert (await _status(engine, "a", "b"))["b"] is JobState.RUNNING


async def test_of_a_page_only_those_are_reported_that_were_asked_for_and_understood() -> None:
    body = json.dumps({"value": [_job("a"), _job("b", "hibernating"), _job("c")], "nextLink": None}).encode()

    async with _service(body, broken=0) as (engine, _):
        assert await _status(engine, "a", "b") == {"a": JobState.RUNNING}


async def test_a_job_of_the_same_name_with_another_token_is_not_reported() -> None:
    body = json.dumps({"value": [_job("a", token="other"), _job("b")]}).encode()

    async with _service(body, broken=0) as (engine, _):
        assert await _status(engine, "a", "b") == {"b": JobState.RUNNING}


async def test_a_page_that_is_no_list_of_jobs_says_nothing_about_any() -> None:
    for body in (b"<html>busy</html>", b"{}", b'{"value": [1]}'):
        async with _service(body, broken=0) as (engine, _):
            with pytest.raises(Transient):
                await _status(engine, "a")


@asynccontextmanager
async def _cluster(**properties: Any) -> AsyncIterator[tuple[BatchAIEngine, list[str]]]:
    """An engine of a service with five queued jobs of two nodes, and what it was asked for."""
    requests: list[str] = []
    queued = [_job(f"n{number}", "queued") for number in range(5)]
    for job in queued:
        job["properties"]["nodeCount"] = 2
        job["id"] = f"/jobs/{job['name']}"

    async def answer(request: web.Request) -> web.Response:
        requests.append(request.path.rpartition("/")[2])
        if "/clusters/" not in request.path:
            return web.json_response({"value": queued})
        return web.json_response({"properties": properties}) if properties else web.Response(status=500)

    async with answering(answer) as url:
        engine = BatchAIEngine(Workspace(url, "s", "g", "w"))
        try:
            yield engine, requests
        finally:
            await engine.close()


async def test_what_jobs_wait_for_costs_one_request_however_many_wait_and_none_a_moment_later() -> None:
    small = {"currentNodeCount": 1, "scaleSettings": {"autoScale": {"maximumNodeCount": 1}}}
    async with _cluster(**small) as (engine, request):
        targets = [
            Target(engine="batchai", cluster="c", experiment="e", name=f"n{n}", token="t") for n in range(5)
        ]
        for _ in range(3):
            observation = await engine.status("c", targets)
        assert {one.why.word for one in observation.values() if one.why} == {"TooManyNodes"}
        assert sorted(one.handle for one in observation.values()) == [f"/jobs/n{n}" for n in range(5)]
        assert request == ["jobs", "c", "jobs", "jobs"]


@pytest.mark.parametrize("properties", [{}, {"currentNodeCount": "many"}])
async def test_a_cluster_that_cannot_be_looked_at_hides_no_job(properties: dict[str, Any]) -> None:
    async with _cluster(**properties) as (engine, _):
        assert await _status(engine, "n0") == {"n0": JobState.QUEUED}
