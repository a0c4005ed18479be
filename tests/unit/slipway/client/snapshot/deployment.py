"""A deployment that takes code and jobs: the calls that `slipway run` makes, in memory."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from aiohttp import web

from tests.doubles.server import answering, as_slipway


class Deployment:
    """It answers a job or sweep with the message it got; code is stored below its digest."""

    def __init__(self) -> None:
        self.blobs, self.messages = dict[str, bytes](), dict[str, Any]()
        self.calls, self.names = list[str](), list[str]()
        self.settings = {"SLIPWAY_STDOUT_PREFIX": "$AZ_BATCHAI_MOUNT_ROOT/logs"}
        #: what `explain` says
        self.verdict = "runs"
        #: how many jobs find their code deleted
        self.losses = 0

    def serving(self) -> AbstractAsyncContextManager[str]:
        """Serve it on a free port; yields the address."""
        return answering(as_slipway(self._answer), largest=1 << 26)

    async def _answer(self, request: web.Request) -> web.Response:
        self.calls.append(f"{request.method} {request.path.partition('/snapshots/')[0]}")
        match request.path:
            case "/api/settings":
                return web.json_response({"settings": self.settings})
            case "/api/snapshots":
                return self._offer(await request.json(), str(request.url.origin()))
            case "/api/explain":
                error = {
                    "severity": "error",
                    "code": "SW010",
                    "message": "wrong",
                    "pointer": "",
                    "file": "message",
                }
                problems = [error] if self.verdict == "rejected" else []
                return web.json_response(
                    {"verdict": self.verdict, "summary": "It would run.", "problems": problems}
                )
            case path if path.endswith("/cancel"):
                of_sweep = path.startswith("/api/sweeps/s_")
                assert of_sweep or path.startswith("/api/jobs/j_")
                return web.json_response({"sweepId" if of_sweep else "id": "x", "state": "cancelling"})
            case "/api/jobs" | "/api/sweeps":
                return self._accept(request, await request.json())
        self.blobs[request.path.rpartition("/")[2]] = await request.read()
        return web.Response(status=201)

    def _offer(self, body: Any, origin: str) -> web.Response:
        if body["sha256"] in self.blobs:
            return web.json_response({"known": True})
        return web.json_response({"known": False, "upload": f"{origin}/snapshots/{body['sha256']}?sig=x"})

    def _accept(self, request: web.Request, message: Any) -> web.Response:
        if self.losses:
            self.losses -= 1
            self.blobs.clear()
        if message["code"]["sha256"] not in self.blobs:
            problem = {"detail": "there is no code here", "remedy": "send the code again"}
            return web.json_response(problem, status=404, content_type="application/problem+json")
        key = request.headers.get("Idempotency-Key") or message["idempotencyKey"]
        self.messages[key] = message
        self.names.append(request.query.get("name", ""))
        number = len(self.messages)
        if request.path == "/api/sweeps":
            sweep = {
                "sweepId": f"s_{'a' * 23}{number + 1}",
                "name": "x",
                "state": "active",
                "total": 2,
                "parallel": 2,
            }
            return web.json_response({**sweep, "counts": {}, "waiting": 0, "atWork": 0})
        return web.json_response({"id": f"j_{number}", "name": "x", "state": "queued", "problems": []})

    @property
    def message(self) -> Any:
        """The only message."""
        (message,) = self.messages.values()
        return json.loads(json.dumps(message))
