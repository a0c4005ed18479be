"""The app in memory behind a network that loses answers: the work is done, and its answer does not arrive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, get_args

from aiohttp import web

from shared.intake.arrive import message_arrived
from tests.doubles.server import answering
from tests.unit.functions.calls import call
from tests.unit.world import World

#: How an answer is lost: the connection is cut, or something before the app answers instead of it.
Loss = Literal[
    "",
    "cut",
    "502 in HTML",
    "500 without a body",
    "200 in HTML",
    "200 in text",
    "200 in JSON",
    "200 with a list",
    "204",
    "400 in HTML",
    "409 in HTML",
    "421 in HTML",
]
LOSSES: tuple[Loss, ...] = tuple(loss for loss in get_args(Loss) if loss)
_HTML = ("<html><h1>oops</h1>Application Gateway</html>", "text/html")
_TEXTS = {
    "in HTML": _HTML,
    "in text": ("hello", "text/plain"),
    "in JSON": ("{}", "application/json"),
    "with a list": ("[]", "application/json"),
}


class Network:
    """Loses the first answer to each request, and counts the requests that arrived."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.arrived: Counter[tuple[str, str, bytes]] = Counter()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.content_length is None:
            body = b""  # as Azure's host, which hands over no body without its length
        this = (request.method, request.path_qs, body)
        self.arrived[this] += 1
        answer = await call(request.method, request.path_qs, dict(request.headers), body)
        if self.loss and self.arrived[this] == 1:
            return self._lost(request)
        headers = {name: text for name, text in answer.headers.items() if name.lower() != "content-length"}
        kind = answer.mimetype or "application/octet-stream"
        return web.Response(
            status=answer.status_code, body=answer.get_body(), headers={**headers, "Content-Type": kind}
        )

    def _lost(self, request: web.Request) -> web.Response:
        if self.loss == "cut" and request.transport is not None:
            request.transport.abort()
        status, _, what = self.loss.partition(" ")
        if what not in _TEXTS:
            return web.Response(status=int(status) if status.isdecimal() else 502)
        text, kind = _TEXTS[what]
        return web.Response(status=int(status), text=text, content_type=kind)


@asynccontextmanager
async def losing(loss: Loss) -> AsyncIterator[tuple[str, Network]]:
    """The address of the app for the length of the block, and its network."""
    network = Network(loss)
    async with answering(network.answer) as url:
        yield url, network


async def outcome(world: World) -> dict[str, Any]:
    """What has happened in a world, once every message is processed, so that what was done twice shows."""
    for number, (queue, body, _) in enumerate(list(world.queues.messages)):
        if queue == "jobs":
            await message_arrived(world.ports, body.encode(), f"q{number}")
    await world.wake()
    stored = await world.ports.teams.get()
    paused = await world.ledger.paused()
    return {
        "jobs": sorted((job.name, job.door, job.state.value) for job in world.ledger.jobs),
        "started": len(world.engine.started),
        "cancelled": sum(job.cancel for job in world.ledger.jobs),
        "dead": [one.id for one in await world.ports.dead.all()],
        "tests": len({identity for _, identity, body in world.webhooks.posts if _is_test(body)}),
        "events": sorted(identity for _, identity, body in world.webhooks.posts if not _is_test(body)),
        "teams": stored.teams.model_dump_json() if stored else "",
        "paused": paused.reason if paused else None,
        "disabled": sorted(one.url for one in await world.ports.outbox.disabled()),
    }


def _is_test(body: bytes) -> bool:
    return bool(json.loads(body)["type"] == "io.slipway.test.v1")
