"""A list by one plain request: where all is as usual it is what the client answers; else that asks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from shared.answers.mark import MARK, MARKED
from slipway.client.calls.answers import Listed
from slipway.client.jobs.quick import quick_list
from slipway.client.service import service
from slipway.failure import Failure
from tests.doubles.server import serving

_OWN = {MARK: MARKED}
_JOBS = [{"id": "j_1", "name": "é"}]


def _answering(body: Any, status: int = 200, **headers: str) -> web.Application:
    async def jobs(_: web.Request) -> web.Response:
        text = body if isinstance(body, str) else json.dumps(body)
        named = {**_OWN, **headers}
        return web.Response(text=text, status=status, headers=named, content_type="application/json")

    application = web.Application()
    application.router.add_get("/api/jobs", jobs)
    return application


async def _both(application: web.Application, **conditions: str) -> tuple[Listed | None, Listed]:
    """What the quick way answers, and what the usual one does."""
    async with serving(application) as url:
        quick = await asyncio.to_thread(quick_list, url, "k", conditions, 20)
        async with service(url, "k") as api:
            return quick, await api.search(conditions, 20)


@pytest.mark.parametrize(
    "page",
    [
        {"jobs": [], "next": None},
        {"jobs": _JOBS, "next": None},
        {"jobs": _JOBS * 20, "next": "2|j_1"},
        {"jobs": _JOBS, "next": "2|j_1", "searchedTo": "2026-01-01T00:00:00Z", "note": "…"},
    ],
)
async def test_a_usual_page_is_what_the_client_makes_of_it(page: dict[str, Any]) -> None:
    quick, usual = await _both(_answering(page), name="a b*&c", label="é=1")

    assert quick == usual


async def test_conditions_and_the_key_reach_the_service_as_they_do_by_the_client() -> None:
    queries: list[tuple[dict[str, str], str | None]] = []

    async def jobs(request: web.Request) -> web.Response:
        queries.append((dict(request.query), request.headers.get("x-functions-key")))
        return web.json_response({"jobs": [], "next": None}, headers=_OWN)

    application = web.Application()
    application.router.add_get("/api/jobs", jobs)
    await _both(application, name="train-*", contains="a+b & ü#%", since="2026-01-01T00:00:00+01:00")

    assert len(queries) == 2
    assert queries[0] == queries[1]
    assert queries[0][1] == "k"


@pytest.mark.parametrize(
    "application",
    [
        _answering({"detail": "no"}, 401),
        _answering({"detail": "no"}, 500),
        _answering("", 302, Location="http://127.0.0.1:1/"),
        _answering("<html>"),
        _answering([]),
        _answering({"jobs": {}, "next": None}),
        _answering({}),
        _answering({"jobs": _JOBS, "next": "2|j_1"}),  # more pages are needed
        web.Application(),
    ],
)
async def test_what_is_not_as_usual_is_left_to_the_client(application: web.Application) -> None:
    async with serving(application) as url:
        assert await asyncio.to_thread(quick_list, url, "", {}, 20) is None


async def test_an_answer_of_something_else_is_left_to_the_client() -> None:
    async def page(_: web.Request) -> web.Response:
        return web.json_response({"jobs": [], "next": None})

    application = web.Application()
    application.router.add_get("/api/jobs", page)
    async with serving(application) as url:
        assert await asyncio.to_thread(quick_list, url, "", {}, 20) is None


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1", "https://127.0.0.1:1", "ftp://x", "x", "http://[", "http://a b", "http://:9"],
)
def test_where_nothing_answers_it_is_left_to_the_client(url: str) -> None:
    assert quick_list(url, "", {}, 20) is None


def test_what_is_wrong_here_is_said_at_once() -> None:
    with pytest.raises(Failure, match="control characters"):
        quick_list("http://127.0.0.1:1", "a\x07b", {}, 20)
    with pytest.raises(Failure, match="without a key in it"):
        quick_list("http://key@127.0.0.1:1", "", {}, 20)


def test_more_than_a_page_and_a_way_over_a_proxy_are_left_to_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert quick_list("http://127.0.0.1:1", "", {}, 201) is None
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert quick_list("http://example.invalid", "", {}, 20) is None
