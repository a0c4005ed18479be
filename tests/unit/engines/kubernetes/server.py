"""An API server at the wire for tests: it notes each request, and answers what it is told to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from tests.doubles.server import answering

#: Status and body: an object, or bytes as they are; None breaks the connection off.
Reply = tuple[int, Any] | None


@dataclass(frozen=True)
class Request:
    """One that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """`answer` gives the reply to a request."""

    answer: Callable[[Request], Reply]
    url: str = ""
    requests: list[Request] = field(default_factory=list)

    @property
    def calls(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.requests]

    def client(self, token: str = "") -> KubernetesClient:
        return KubernetesClient(Access(self.url), FixedToken(token))


def status(code: int, reason: str, message: str = "It did not work.", **details: Any) -> tuple[int, Any]:
    """An error as API servers write it."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    return code, {**body, "reason": reason, "details": details, "code": code}


def in_turn(*answers: Reply) -> Callable[[Request], Reply]:
    """Gives them in turn, and the last one for ever."""
    rest = list(answers)
    return lambda request: rest.pop(0) if len(rest) > 1 else rest[0]


@asynccontextmanager
async def server(answer: Callable[[Request], Reply]) -> AsyncIterator[Server]:
    """The server, listening on a port of this machine."""
    result = Server(answer)

    async def handle(request: web.Request) -> web.StreamResponse:
        text = await request.text()
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = json.loads(text) if text else None
        request_seen = Request(request.method, request.path, dict(request.query), headers, body)
        result.requests.append(request_seen)
        reply = result.answer(request_seen)
        if reply is None:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        code, answered = reply
        content = answered if isinstance(answered, bytes) else json.dumps(answered).encode()
        return web.Response(status=code, body=content, content_type="application/json")

    async with answering(handle, largest=8 * 1024**2) as result.url:
        yield result
