"""A test's server, on a free local port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from shared.answers.mark import MARK, MARKED

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    """Serve an application for the length of the block; yields its address."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering(answer: Answer, *, largest: int = 1024**2) -> AsyncIterator[str]:
    """Serve all requests with one handler; yields the address. `largest`: bytes of a body."""
    app = web.Application(client_max_size=largest)
    app.router.add_route("*", "/{path:.*}", answer)
    async with serving(app) as url:
        yield url


def as_slipway(answer: Answer) -> Answer:
    """The handler, with the mark of Slipway's API on what it answers; pages and refusals stay as they are."""

    async def marked(request: web.Request) -> web.StreamResponse:
        response = await answer(request)
        if response.status < 300 and response.content_type != "text/html":
            response.headers.setdefault(MARK, MARKED)
        return response

    return marked
