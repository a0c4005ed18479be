"""The server: the ARM contract, downloads and the File service behind one port."""

import json
import logging
import re
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from aiohttp import web

from local.batchai import ids, operations, routes
from local.batchai.conductor import Conductor
from local.batchai.control import PREFIX as CONTROL
from local.batchai.control import Control
from local.batchai.errors import ArmError, invalid
from local.batchai.files import FileService
from local.batchai.login import Login
from local.batchai.notices import Notices
from local.batchai.outputs import PREFIX, Downloads
from local.batchai.settings import Settings
from local.batchai.store import Store
from local.batchai.wire import API_VERSION, Call, Emulator

_LARGEST_BODY = 4 << 20
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_log = logging.getLogger(__name__)


def application(
    settings: Settings, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> web.Application:
    """The emulator as an aiohttp application, at work from start-up to clean-up. Raises StoreBusyError."""
    store = Store(settings.data)
    operations.prune(store, clock())
    notices = Notices(settings.notice) if settings.notice else None
    conductor = Conductor(store, settings, clock, notices.ended if notices else lambda _: None)
    emulator = Emulator(store, conductor, settings, Downloads(settings), clock)

    async def arm(request: web.Request) -> web.StreamResponse:
        return await _dispatch(emulator, request)

    async def download(request: web.Request) -> web.StreamResponse:
        return await emulator.downloads.serve(request, clock())

    async def start(_: web.Application) -> None:
        await conductor.start()

    async def stop(_: web.Application) -> None:
        await conductor.stop()
        if notices is not None:
            await notices.close()
        store.close()

    app = web.Application(middlewares=[_answer_errors], client_max_size=_LARGEST_BODY)
    app.on_startup.append(start)
    app.on_cleanup.append(stop)
    app.router.add_get(PREFIX + "{path:.+}", download)
    Login(store, settings).add_to(app.router)
    control = Control(store, conductor)
    app.router.add_get(f"{CONTROL}/nodes", control.nodes)
    app.router.add_post(f"{CONTROL}/nodes/{{node}}/preempt", control.preempt)
    files = FileService(settings, clock)
    app.router.add_route("*", f"/{settings.account.name}/{{path:.*}}", files.serve)
    app.router.add_route("*", "/{path:.*}", arm)
    return app


async def _dispatch(emulator: Emulator, request: web.Request) -> web.StreamResponse:
    found = routes.find(request.path.rstrip("/"))
    if found is None:
        raise ArmError(404, "InvalidResourceType", f"There is nothing at {request.path}.", "path")
    handlers, names = found
    if request.method not in handlers:
        allowed = ", ".join(handlers)
        raise ArmError(405, "MethodNotAllowed", f"Only {allowed} can be used here.", "method")
    if not routes.is_neighbour(handlers):
        _check_version(request)
    ids.check(names)
    only = emulator.settings.subscription
    if only is not None and names.get("subscription", only).lower() != only.lower():
        message = f"The subscription '{names['subscription']}' could not be found."
        raise ArmError(404, "SubscriptionNotFound", message, "subscription")
    answer = await handlers[request.method](Call(emulator, request, names))
    answer.headers["Cache-Control"] = "no-cache"
    return answer


def _check_version(request: web.Request) -> None:
    version = request.query.get("api-version")
    if version is None:
        raise invalid("The parameter api-version is required.", "api-version", "MissingApiVersionParameter")
    if version != API_VERSION:
        message = f"The api-version {version!r} is not supported; use {API_VERSION}."
        raise invalid(message, "api-version", "InvalidApiVersionParameter")


@web.middleware
async def _answer_errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Errors in the contract's form. Names that only lead here by DNS are refused: we run commands."""
    number = str(uuid.uuid4())
    try:
        if (request.url.host or "") not in _LOOPBACK:
            raise ArmError(403, "HostNotAllowed", "This emulator answers on loopback names only.", "Host")
        answer = await handler(request)
    except ArmError as error:
        answer = _error_answer(error)
    except web.HTTPRequestEntityTooLarge:
        answer = _error_answer(ArmError(413, "RequestEntityTooLarge", "The body is larger than 4 MiB."))
    except web.HTTPException:
        raise
    except Exception:  # noqa: BLE001 the entry point of a request: a defect is logged and answered, the emulator lives on
        _log.exception("a defect of the emulator in %s %s", request.method, request.path)
        answer = _error_answer(
            ArmError(500, "InternalServerError", "The emulator has a defect; see its log.")
        )
    if not answer.prepared:
        answer.headers["x-ms-request-id"] = number
        answer.headers["request-id"] = number
    return answer


def _error_answer(error: ArmError) -> web.Response:
    # The service repeats the message as the reason phrase, which holds printable ASCII only.
    reason = re.sub(r"[^ -~]", "?", error.message)[:200]
    body = json.dumps(error.body())
    return web.Response(status=error.status, reason=reason, text=body, content_type="application/json")
