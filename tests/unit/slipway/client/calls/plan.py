"""What an address answers, in order: Slipway's API, or something else."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from aiohttp import web

JOB = {"id": "j_1", "name": "x", "state": "queued"}
MARK = {"Slipway-Api": "1"}
Page = Callable[[web.Request], web.Response]


def page(status: int, body: str = "<html><h1>Application Gateway</h1></html>", **headers: str) -> Page:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    kind = "text/html" if body else None
    return lambda _: web.Response(status=status, text=body, content_type=kind, headers=named)


def of_kind(kind: str, body: str) -> Page:
    return lambda _: web.Response(text=body, content_type=kind)


#: What something else may answer with 200.
FOREIGN = [
    ("text/html", "<html>"),
    ("text/plain", "hello"),
    ("application/octet-stream", ""),
    *(("application/json", text) for text in ("{}", "[]", '"ok"', '{"id": "j_1", "status": "ok"}')),
]
#: Every status of a page, but those that name what of the request is too large.
STATUSES = [one.value for one in HTTPStatus if one >= 200 and one not in (413, 414, 431)]
LOGIN = {"Location": "https://login.example/x"}


def ours(_: web.Request) -> web.Response:
    return web.json_response(JOB, headers=MARK)


def refusal(status: int, **headers: str) -> Page:
    problem = {"detail": "not now", "remedy": "send it again", "status": status}
    named = {name.replace("_", "-"): text for name, text in headers.items()} | MARK
    kind = "application/problem+json"
    return lambda _: web.json_response(problem, status=status, content_type=kind, headers=named)


def cut(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


class Plan:
    """What the address answers, in order; the last one for ever."""

    def __init__(self, *pages: Page) -> None:
        self.pages = list(pages)
        self.keys: list[str | None] = []

    async def answer(self, request: web.Request) -> web.Response:
        await request.read()
        if request.path == "/api/health":  # asked beside a 404
            return self.pages[0](request)
        self.keys.append(request.headers.get("Idempotency-Key"))
        return (self.pages.pop(0) if len(self.pages) > 1 else self.pages[0])(request)
