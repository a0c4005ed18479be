"""A Batch account at the wire for tests: it notes each request, and answers what it is told to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.doubles.server import answering
from tests.unit.engines.batch.described import refusal

Reply = tuple[int, Any]


@dataclass(frozen=True)
class Request:
    """One that came: `body` is parsed, `raw` is the address as it was sent."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    raw: str


@dataclass
class Account:
    """`answer` gives the reply to a request, a text as it stands; None breaks the connection off."""

    answer: Callable[[Request], Reply | None]
    url: str = ""
    requests: list[Request] = field(default_factory=list)

    @property
    def calls(self) -> list[str]:
        return [f"{one.method} {one.path}" for one in self.requests]


def error(code: str, text: str = "It did not work.", **values: str) -> Any:
    """The body of an error as the service writes it."""
    message_text = f"{text}\nRequestId:11ab3ff2\nTime:2026-09-07T12:00:00.0000000Z"
    details = [{"key": key, "value": value} for key, value in values.items()]
    return {
        "odata.metadata": "https://a.b.batch.azure.com/$metadata#Microsoft.Azure.Batch.Protocol/errors/@Element",
        "code": code,
        "message": {"lang": "en-US", "value": message_text},
        **({"values": details} if details else {}),
    }


def _refusal(request: Request) -> Reply | None:
    """What the service answers to a request that it does not describe."""
    refused = refusal(request.method, request.path, request.query, request.body)
    return (refused.status, error(refused.code, refused.message, **refused.values)) if refused else None


@asynccontextmanager
async def account(
    answer: Callable[[Request], Reply | None], *, strict: bool = False, pause: int = 1
) -> AsyncIterator[Account]:
    """The account, listening on a port of this machine; a strict one refuses what the service does.

    `pause`: the seconds that it asks for when it is busy.
    """
    result = Account(answer)

    async def handle(request: web.Request) -> web.StreamResponse:
        text = await request.text()
        request_seen = Request(
            request.method,
            request.path,
            dict(request.query),
            {name.lower(): value for name, value in request.headers.items()},
            json.loads(text) if text else None,
            str(request.raw_path),
        )
        result.requests.append(request_seen)
        refused = _refusal(request_seen) if strict else None
        reply = refused or result.answer(request_seen)
        if reply is None:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        status, body = reply
        text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        headers = {"Retry-After": str(pause)} if status in (429, 503) else {}
        return web.Response(status=status, text=text, headers=headers, content_type="application/json")

    async with answering(handle) as result.url:
        yield result
