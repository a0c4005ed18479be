"""The host's own endpoints: status, list of functions, running one by hand, events from Event Grid."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from aiohttp import web

from local.host.keys import Keys
from local.host.triggers.blob import BlobTriggers
from local.host.triggers.http import HttpTriggers
from local.host.worker.contract import Function

_log = logging.getLogger("Host.admin")

#: What stands before the name of a function.
_FUNCTION = "Host.Functions."

#: Runs a function by hand with the request's input.
RunNow = Callable[[Function, str], Awaitable[None]]


class Admin:
    """The handlers of /admin and /runtime/webhooks."""

    def __init__(
        self,
        *,
        host: str,
        functions: Mapping[str, Function],
        disabled: frozenset[str],
        errors: Mapping[str, str],
        keys: Keys,
        http: HttpTriggers,
        blobs: BlobTriggers,
        run_now: RunNow,
    ) -> None:
        self._host = host
        self._functions = functions
        self._disabled = disabled
        self._errors = errors
        self._keys = keys
        self._http = http
        self._blobs = blobs
        self._run_now = run_now
        self._began = time.monotonic()
        self._tasks: set[asyncio.Task[None]] = set()

    def add_to(self, app: web.Application) -> None:
        """Register the routes of the host's own API."""
        app.router.add_get("/admin/host/status", self._guarded(self._status))
        app.router.add_get("/admin/host/ping", self._ping)
        app.router.add_post("/admin/host/ping", self._ping)
        app.router.add_get("/admin/functions", self._guarded(self._list))
        app.router.add_get("/admin/functions/{name}", self._guarded(self._one))
        app.router.add_get("/admin/functions/{name}/status", self._guarded(self._errors_of_one))
        app.router.add_post("/admin/functions/{name}", self._guarded(self._run))
        app.router.add_get("/runtime/webhooks/blobs", self._guarded(self._event, "blobs"))
        app.router.add_post("/runtime/webhooks/blobs", self._guarded(self._event, "blobs"))
        app.router.add_options("/runtime/webhooks/blobs", self._guarded(self._handshake, "blobs"))

    async def drain(self, grace: float) -> None:
        """Let runs by hand finish for `grace` seconds."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=grace)
            for task in late:
                task.cancel()

    def _guarded(
        self, handler: Callable[[web.Request], Awaitable[web.Response]], level: str = "admin"
    ) -> Any:
        async def guarded(request: web.Request) -> web.Response:
            if not self._keys.admits(request, level):
                if self._keys.enabled and self._keys.admits(request, "function"):
                    return web.Response(status=403)
                return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})
            return await handler(request)

        return guarded

    async def _status(self, _: web.Request) -> web.Response:
        uptime = round((time.monotonic() - self._began) * 1000)
        status = {"id": self._host, "state": "Running", "version": "local", "processUptime": uptime}
        return web.json_response(status)

    async def _ping(self, _: web.Request) -> web.Response:
        return web.Response(headers={"Cache-Control": "no-store,no-cache", "Pragma": "no-cache"})

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response([self._describe(f, request) for f in self._functions.values()])

    async def _one(self, request: web.Request) -> web.Response:
        function = self._find(request)
        return (
            web.Response(status=404)
            if function is None
            else web.json_response(self._describe(function, request))
        )

    async def _errors_of_one(self, request: web.Request) -> web.Response:
        """`errors`, if it has any: the host is `Running` without it."""
        function = self._find(request)
        if function is None:
            return web.Response(status=404)
        error = self._errors.get(function.name)
        return web.json_response({} if error is None else {"errors": [error]})

    async def _run(self, request: web.Request) -> web.Response:
        """POST {"input": "…"}: 202, and the function runs; HTTP functions are called by their own address."""
        function = self._find(request)
        if function is None or function.name in self._errors:
            return web.Response(status=404)
        if function.trigger["type"] == "httpTrigger":
            return web.Response(status=400, text=f"call {self._http.template(function)} instead\n")
        if request.content_type != "application/json":
            return web.Response(status=415)
        try:
            document = json.loads(await request.read() or b"null")
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            return web.Response(status=400, text='the body must be JSON: {"input": "…"}\n')
        input_text = document.get("input", "")
        if isinstance(input_text, dict | list):
            return web.Response(status=400, text="the input must be a text\n")
        text = input_text if isinstance(input_text, str) else json.dumps(input_text)
        task = asyncio.ensure_future(self._run_now(function, text))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return web.Response(status=202)

    async def _handshake(self, request: web.Request) -> web.Response:
        """The one of CloudEvents: any sender is welcome."""
        return web.Response(
            headers={"WebHook-Allowed-Origin": request.headers.get("WebHook-Request-Origin", "")}
        )

    async def _event(self, request: web.Request) -> web.Response:
        """Event Grid's deliveries to a blob trigger: the validation handshake, then BlobCreated.

        What cannot be read, or names no function, is an error of the host.
        """
        if "aeg-event-type" not in request.headers:
            return web.Response(status=400)
        whole_name = request.query.get("functionName", "")
        function = whole_name.removeprefix(_FUNCTION) if whole_name.startswith(_FUNCTION) else ""
        try:
            events = json.loads(await request.read())
        except (ValueError, RecursionError):
            return web.Response(status=500)
        for event in events if isinstance(events, list) else [events]:
            if not isinstance(event, dict):
                return web.Response(status=500)
            data = event.get("data")
            data = data if isinstance(data, dict) else {}
            kind = event.get("eventType") or event.get("type")
            if kind == "Microsoft.EventGrid.SubscriptionValidationEvent":
                answer = {"validationResponse": data.get("validationCode")}
                return web.Response(text=json.dumps(answer, separators=(",", ":")))
            if function not in self._functions or function in self._errors:
                return web.Response(status=500)
            blob = _blob_of(str(data.get("url", "")))
            if kind == "Microsoft.Storage.BlobCreated" and blob is not None:
                await self._blobs.receive_event(function, *blob)
        return web.Response(status=202)

    def _find(self, request: web.Request) -> Function | None:
        lower_name = request.match_info["name"].lower()
        return next((f for name, f in self._functions.items() if name.lower() == lower_name), None)

    def _describe(self, function: Function, request: web.Request) -> dict[str, Any]:
        is_http = function.trigger["type"] == "httpTrigger"
        return {
            "name": function.name,
            "language": "python",
            "isDisabled": function.name in self._disabled,
            "config": {"bindings": [dict(b) for b in function.bindings]},
            "invoke_url_template": f"{request.url.origin()}{self._http.template(function)}"
            if is_http
            else None,
        }


class _Blob(NamedTuple):
    container: str
    name: str


def _blob_of(url: str) -> _Blob | None:
    """The blob of an address; the emulator's addresses begin with the account."""
    parts = urlsplit(url)
    path = parts.path.lstrip("/")
    if not (parts.hostname or "").partition(".")[2].startswith("blob."):
        path = path.partition("/")[2]
    container, _, name = path.partition("/")
    return _Blob(container, unquote(name)) if container and name else None
