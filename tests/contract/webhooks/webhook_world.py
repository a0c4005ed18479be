"""What the webhook tests share: receivers that answer byte by byte, a name server, a sender."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from shared.adapters.webhook.sender import WebhookSender
from shared.core.notify.cloudevents import cloud_event
from shared.core.notify.webhook_url import UrlPolicy
from shared.core.ports import Posted

SECRET = "whsec_Q2FuYXJ5NFNlY3JldENhbmFyeTRTZWNyZXQ0NDQ0"
CANARY = "Canary4Query"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOCAL = UrlPolicy(allow_loopback=True)
PUBLIC = "93.184.216.34"
BODY = cloud_event(
    id="evt_abc",
    source="/slipway",
    type="io.slipway.job.succeeded.v1",
    subject="jobs/j_1",
    time=datetime(2026, 11, 20, tzinfo=UTC),
    data={"name": "mnïst"},
)

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Receiver:
    """A raw HTTP server whose answers are written byte by byte by the test."""

    answer: Answer
    #: whether it goes on reading after an answer
    keeps: bool = False
    port: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    active: int = 0
    busiest: int = 0
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def headers(self, number: int = -1) -> dict[str, str]:
        lines = self.heads[number].split("\r\n")[1:]
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines) if name}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.active += 1
        self.busiest = max(self.busiest, self.active)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                await self._one(reader, writer)
                while self.keeps:
                    await self._one(reader, writer)
            finally:
                self.active -= 1
                self._tasks.discard(task)
                writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        self.bodies.append(await reader.readexactly(int(self.headers().get("content-length", "0"))))
        await self.answer(writer)
        await writer.drain()

    async def idle(self) -> None:
        """Wait until every connection is closed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def receiver(
    answer: Answer, tls: ssl.SSLContext | None = None, *, keeps: bool = False
) -> AsyncIterator[Receiver]:
    one = Receiver(answer, keeps)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0, ssl=tls)
    one.port = server.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        server.close()
        await one.stop()
        await server.wait_closed()


def reply(status: int = 204, headers: str = "", body: bytes = b"") -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body)

    return answer


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


class Names(AbstractResolver):
    """A name server that answers each lookup with the next list of addresses, the last one for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.hosts: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.hosts.append(host)
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        pass


@asynccontextmanager
async def sender(policy: UrlPolicy = LOCAL, **options: Any) -> AsyncIterator[WebhookSender]:
    one = WebhookSender(policy, **options)
    try:
        yield one
    finally:
        await one.close()


async def post(url: str, *, policy: UrlPolicy = LOCAL, **options: Any) -> Posted:
    async with sender(policy, **options) as one:
        # A sender without its own limit would hang here for ever; let the test fail instead.
        return await asyncio.wait_for(one.post(url, "evt_abc", BODY, [SECRET], datetime.now(UTC)), 30)
