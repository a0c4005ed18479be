"""The server: Batch's data plane behind one port."""

import errno
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from local.azurebatch.api.authentication import authenticate
from local.azurebatch.api.bodies import is_text
from local.azurebatch.api.control import PREFIX
from local.azurebatch.api.routes import ROUTES, operation_of
from local.azurebatch.api.wire import Call, Emulator, Handler, check_version, refusal, sign, version_of
from local.azurebatch.run.conductor import Conductor
from local.azurebatch.service.check import check_query, read_body
from local.azurebatch.service.facts import Operation
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.errors import BatchError
from local.azurebatch.state.faults import Faults
from local.record_file import StoreFullError

_LARGEST_BODY = 4 << 20
_NUMBER = web.RequestKey("number", str)
_Next = Callable[[web.Request], Awaitable[web.StreamResponse]]
_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


def application(settings: Settings) -> web.Application:
    """The emulator as an aiohttp application, which works from start-up to clean-up.

    Raises StoreBusyError.
    """
    store = Store(settings.data)
    conductor = Conductor(store, settings, _now)
    emulator = Emulator(store, conductor, settings, _now, Faults())

    async def start(_: web.Application) -> None:
        await conductor.start()

    async def stop(_: web.Application) -> None:
        await conductor.stop()
        store.close()

    app = web.Application(middlewares=[_answer_errors, _guard(emulator)], client_max_size=_LARGEST_BODY)
    app.on_response_prepare.append(_sign)
    app.on_startup.append(start)
    app.on_cleanup.append(stop)
    for method, path, handler in ROUTES:
        app.router.add_route(method, path, _route(emulator, handler, operation_of(method, path)))
    return app


def _route(emulator: Emulator, handler: Handler, operation: Operation | None) -> _Next:
    async def answered(request: web.Request) -> web.StreamResponse:
        version = version_of(request)
        if operation is not None and not operation.is_of(version):
            raise web.HTTPNotFound
        body = await _body(request)
        if operation is not None:
            check_query(operation, version, request.query)
        if operation is not None and operation.body:
            body = read_body(operation.body, version, body)
        most = operation.limits.get("maxresults") if operation is not None else None
        return await handler(Call(emulator, request, request.match_info, body, most or 0))

    return answered


def _guard(emulator: Emulator) -> Any:
    settings = emulator.settings

    @web.middleware
    async def guard(request: web.Request, handler: _Next) -> web.StreamResponse:
        if foreign := settings.border.foreign(request.method, request.headers):
            raise BatchError(403, "Forbidden", f"{foreign.detail}: {foreign.remedy}.")
        authenticate(request, settings.batch_account, settings.batch_key, _now())
        if request.path.startswith(f"{PREFIX}/"):
            return await handler(request)
        check_version(request)
        fault = emulator.faults.take(request.method, request.path)
        if fault is None:
            return await handler(request)
        if fault.late:
            await handler(request)
        raise fault.error()

    return guard


async def _body(request: web.Request) -> Mapping[str, Any]:
    """The document of a request; empty if there is none. Raises BatchError."""
    content = await request.read()
    if not content:
        return {}
    if request.content_type != "application/json":
        message = "The value for one of the HTTP headers is not in the correct format."
        values = {"HeaderName": "Content-Type", "HeaderValue": request.content_type}
        raise BatchError(415, "UnsupportedMediaType", message, values)
    try:
        content_of_body = json.loads(content)
    except (ValueError, RecursionError):
        content_of_body = None
    message = "The specified Request Body is not syntactically valid."
    if not isinstance(content_of_body, dict):
        raise BatchError(400, "InvalidRequestBody", message)
    if b"\\u" in content and not is_text(content_of_body):
        values = {"Reason": "Text has a null character, or half of a surrogate pair"}
        raise BatchError(400, "InvalidRequestBody", message, values)
    content_of_body.pop("odata.metadata", None)
    return content_of_body


@web.middleware
async def _answer_errors(request: web.Request, handler: _Next) -> web.StreamResponse:
    """Turns errors into the service's form, and adds the headers of every response."""
    number = request[_NUMBER] = str(uuid.uuid4())
    try:
        answer = await handler(request)
    except BatchError as error:
        answer = refusal(request, error, number, _now())
        if error.status == 401:
            answer.headers["WWW-Authenticate"] = "Bearer, SharedKey"
        if error.status in (429, 503):
            answer.headers["Retry-After"] = "1"
    except web.HTTPRequestEntityTooLarge:
        message = "The size of the request body exceeds the maximum size permitted."
        answer = refusal(request, BatchError(413, "RequestBodyTooLarge", message), number, _now())
    except web.HTTPNotFound:
        message = f"This emulator has nothing at {request.path}."
        answer = refusal(request, BatchError(404, "ResourceNotFound", message), number, _now())
    except web.HTTPMethodNotAllowed:
        message = "The resource doesn't support the specified HTTP verb."
        answer = refusal(request, BatchError(405, "UnsupportedHttpVerb", message), number, _now())
    except Exception as error:  # noqa: BLE001 the entry point: a defect is answered, the emulator lives on
        answer = refusal(request, _defect(request, error), number, _now())
        answer.headers["Retry-After"] = "5"
    return answer


async def _sign(request: web.Request, answer: web.StreamResponse) -> None:
    """Add the headers before the first byte, also to a file."""
    sign(request, answer, request[_NUMBER])


def _defect(request: web.Request, error: Exception) -> BatchError:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, StoreFullError) or full:
        message = f"{error}. Nothing has changed; make room on the disk of the emulator, and send it again."
        return BatchError(503, "ServerBusy", message)
    _log.error("a defect of the emulator in %s %s", request.method, request.path, exc_info=error)
    return BatchError(500, "InternalError", "The emulator has a defect; see its log.")
