"""What the commands say about the API's answers."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from cli.failure import Failure
from cli.service import service

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """A server that answers everything in one way; its URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_problem_document_is_told_with_each_place_and_remedy() -> None:
    async def answer(request: web.Request) -> web.Response:
        error = {"severity": "error", "code": "SW010", "pointer": "/x", "message": "wrong"}
        error["remedy"] = "mend it"
        document = {"detail": "it cannot run", "remedy": "send it again", "errors": [error]}
        return web.json_response(document, status=422, content_type="application/problem+json")

    async with answering(answer) as url, service(url) as api:
        with pytest.raises(Failure) as refused:
            await api.submit(b"{}")

    assert str(refused.value).splitlines() == [
        "it cannot run; send it again",
        "  error SW010 /x: wrong",
        "      mend it",
    ]


async def test_a_key_is_sent_and_its_absence_is_explained() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.headers.get("x-functions-key") != "right":
            return web.Response(status=401)
        return web.json_response({"jobs": []})

    async with answering(answer) as url:
        async with service(url, "right") as api:
            assert await api.jobs() == []
        async with service(url) as api:
            with pytest.raises(Failure, match="SLIPWAY_KEY"):
                await api.jobs()


async def test_an_answer_that_is_no_problem_document_is_told_by_its_status() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=502, text="<html>")

    async with answering(answer) as url, service(url) as api:
        with pytest.raises(Failure, match="502 Bad Gateway"):
            await api.clusters()


async def test_no_answer_is_told_with_the_url() -> None:
    async def answer(request: web.Request) -> web.Response:
        raise AssertionError

    async with answering(answer) as url:
        pass  # nobody listens there any more

    async with service(url) as api:
        with pytest.raises(Failure, match=f"no answer from {url}: .*slipway up"):
            await api.jobs()
