"""A proxy in front of a service that answers badly now and then, as services and networks do."""

from __future__ import annotations

import asyncio
import random
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from yarl import URL

#: Azurite closes a connection that was idle for five seconds.
_IDLE = 4.0
_HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"}
)
#: Seconds: the longest time without an accepted connection, more than the app waits for one. And how many
#: connections the system makes meanwhile; it answers no others.
_STANDSTILL, _BACKLOG = 8.0, 2
#: Signed or not, a header that the client did not send must not be added.
_OURS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


@dataclass(frozen=True)
class Odds:
    """The share of requests that go wrong, each in [0, 1]."""

    #: 503. Every second one comes after the work was done, as from a gateway that gave up waiting.
    unavailable: float = 0.10
    throttled: float = 0.02
    #: The work is done and the connection is cut.
    lost: float = 0.02
    #: Of connections: behind it no other one is accepted for a while, so clients give up as they connect.
    slow: float = 0.0


class Proxy:
    """Forwards to `target` (scheme and authority), which may be set after the start."""

    def __init__(self, odds: Odds, dice: random.Random) -> None:
        self.target = ""
        self.url = ""
        #: How many requests came, and how many went wrong in which way.
        self.counts: Counter[str] = Counter()
        self._odds = odds
        self._dice = dice
        self._http: aiohttp.ClientSession | None = None

    @property
    def faults(self) -> int:
        """How many requests went wrong."""
        return sum(count for name, count in self.counts.items() if name not in ("requests", "standstills"))

    def stand_for(self, url: str) -> None:
        """Forward to the service of this address; its path is the client's affair."""
        parts = urlsplit(url)
        self.target = f"{parts.scheme}://{parts.netloc}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen on a free port of the loopback interface for the length of the block."""
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as self._http:
            runner = web.ServerRunner(web.Server(self._handle))
            await runner.setup()
            listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG if self._odds.slow else 1000)
            listening.setblocking(False)
            accepting = asyncio.create_task(self._accept(listening, runner.server))
            try:
                self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
                yield
            finally:
                accepting.cancel()
                await asyncio.wait({accepting})
                listening.close()
                await runner.cleanup()

    async def _accept(self, listening: socket.socket, server: Any) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listening)
            await loop.connect_accepted_socket(server, connection)
            if self._dice.random() < self._odds.slow:
                self.counts["standstills"] += 1
                await asyncio.sleep(self._dice.uniform(0, _STANDSTILL))

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        fault = self.fault(request)
        self.counts["requests"] += 1
        if fault:
            self.counts[fault] += 1
        if fault in ("throttled", "refused"):
            return self.page(fault)
        body = await request.read()
        answer = await self.forwarded(request, body)
        if fault == "unanswered":
            return self.page(fault)
        if fault == "lost" and request.transport is not None:
            request.transport.abort()
        return answer

    def page(self, fault: str) -> web.Response:
        """What is answered instead of the service, which has done the work if it is "unanswered"."""
        if fault == "unanswered":
            return web.Response(status=503)
        return web.Response(status=429 if fault == "throttled" else 503, headers={"Retry-After": "0"})

    def fault(self, _: web.BaseRequest) -> str:
        """What goes wrong with a request; "" for nothing."""
        odds, point = self._odds, self._dice.random()
        for name, share in (
            ("refused", odds.unavailable / 2),
            ("unanswered", odds.unavailable / 2),
            ("throttled", odds.throttled),
            ("lost", odds.lost),
        ):
            if point < share:
                return name
            point -= share
        return ""

    async def forwarded(self, request: web.BaseRequest, body: bytes) -> web.Response:
        """The answer of the service."""
        assert self._http is not None
        url = URL(self.target + request.raw_path, encoded=True)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        try:
            async with self._http.request(
                request.method,
                url,
                headers=headers,
                data=body or None,
                allow_redirects=False,
                skip_auto_headers=_OURS,
            ) as answer:
                remaining = [(n, v) for n, v in answer.headers.items() if n.lower() not in _HOP_BY_HOP]
                if encoding := answer.headers.get("Content-Encoding"):
                    remaining.append(("Content-Encoding", encoding))
                content = b"" if request.method == "HEAD" else await answer.read()
                response = web.Response(status=answer.status, headers=dict(remaining), body=content)
                if request.method == "HEAD" and (length := answer.headers.get("Content-Length")):
                    response.headers["Content-Length"] = length
                return response
        except aiohttp.ClientError:
            self.counts["broken"] += 1
            return web.Response(status=503)
