"""A proxy before the emulator that shows the exchanges of every client to the contract."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from yarl import URL

from tests.contract.emulator.swagger import Contract, Exchange

_OF_THE_CONTRACT = ("/subscriptions/", "/providers/")
_OF_THE_HOP = {"connection", "keep-alive", "transfer-encoding"}
_OF_THE_CLIENT = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class Recorder:
    """What was wrong with the exchanges so far."""

    def __init__(self, contract: Contract | None) -> None:
        self.contract = contract
        self.problems: list[str] = []

    def drain(self) -> list[str]:
        """The problems since the last call."""
        problems, self.problems = self.problems, []
        return problems

    @asynccontextmanager
    async def before(self, upstream: str) -> AsyncIterator[str]:
        """A proxy before a server; its URL."""
        async with aiohttp.ClientSession(auto_decompress=False) as session:

            async def handle(request: web.Request) -> web.StreamResponse:
                return await self._pass(request, session, upstream)

            app = web.Application(client_max_size=1 << 30)
            app.router.add_route("*", "/{path:.*}", handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            try:
                yield f"http://127.0.0.1:{runner.addresses[0][1]}"
            finally:
                await runner.cleanup()

    async def _pass(
        self, request: web.Request, session: aiohttp.ClientSession, upstream: str
    ) -> web.StreamResponse:
        body = await request.read()
        headers = [(name, value) for name, value in request.headers.items() if _goes_on(name)]
        async with session.request(
            request.method,
            URL(upstream + request.raw_path, encoded=True),
            data=body,
            headers=headers,
            skip_auto_headers=_OF_THE_CLIENT,
            allow_redirects=False,
        ) as answer:
            content = await answer.read()
            self._check(request, body, answer.status, content, answer.content_type)
            remaining = [(name, value) for name, value in answer.headers.items() if _goes_on(name)]
            return web.Response(status=answer.status, reason=answer.reason, body=content, headers=remaining)

    def _check(self, request: web.Request, body: bytes, status: int, content: bytes, kind: str) -> None:
        if self.contract is None or not request.path.startswith(_OF_THE_CONTRACT):
            return
        exchange = Exchange(request.method, request.path, request.query, body, status, content, kind)
        self.contract.note(exchange)
        self.problems += self.contract.problems(exchange)


def _goes_on(header: str) -> bool:
    return header.lower() not in _OF_THE_HOP
