"""The server: the ARM contract, downloads and the File service behind one port."""

import errno
import json
import logging
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from aiohttp import web

from local.batchai.api import operations, routes
from local.batchai.api.control import PREFIX as CONTROL
from local.batchai.api.control import Control
from local.batchai.api.groups import group_of
from local.batchai.api.login import Login
from local.batchai.api.query import parameters
from local.batchai.api.wire import API_VERSION, Call, Emulator
from local.batchai.conductor import Conductor
from local.batchai.files.files import FileService
from local.batchai.files.outputs import PREFIX, Downloads
from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.errors import ArmError, invalid
from local.batchai.state.notices import Notices
from local.batchai.state.settings import Settings
from local.border import is_form
from local.record_file import StoreFullError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_LARGEST_BODY = 4 << 20
_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


def application(settings: Settings, address: str) -> web.Application:
    """The emulator as an aiohttp application, at work from start-up to clean-up. Raises StoreBusyError.

    `address` is where it is served without TLS.
    """
    store = Store(settings.data)
    operations.prune(store, _now())
    notices = Notices(settings.notice) if settings.notice else None
    conductor = Conductor(store, settings, _now, notices.job_ended if notices else lambda _: None)
    emulator = Emulator(store, conductor, settings, Downloads(settings), _now, address)
    files = FileService(settings, _now)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if foreign := settings.border.foreign(request.method, request.headers):
            raise ArmError(
                403, f"{foreign.header}NotAllowed", f"{foreign.detail}: {foreign.remedy}.", foreign.header
            )
        return await (files.serve if request.host == files.host else handler)(request)

    async def start(_: web.Application) -> None:
        await conductor.start()

    async def stop(_: web.Application) -> None:
        await conductor.stop()
        if notices is not None:
            await notices.close()
        store.close()

    app = web.Application(middlewares=[_answer_errors, guard], client_max_size=_LARGEST_BODY)
    app.on_startup.append(start)
    app.on_cleanup.append(stop)
    _add_routes(app.router, emulator, files)
    return app


def _add_routes(router: web.UrlDispatcher, emulator: Emulator, files: FileService) -> None:
    async def arm(request: web.Request) -> web.StreamResponse:
        return await _dispatch(emulator, request)

    async def download(request: web.Request) -> web.StreamResponse:
        return await emulator.downloads.serve(request, _now())

    router.add_get(PREFIX + "{path:(?s:.+)}", download)
    Login(emulator.store, emulator.settings).add_to(router)
    control = Control(emulator.store, emulator.conductor)
    router.add_get(f"{CONTROL}/nodes", control.nodes)
    router.add_post(f"{CONTROL}/nodes/{{node}}/preempt", control.preempt)
    router.add_route("*", f"/{emulator.settings.account.name}/{{path:(?s:.*)}}", files.serve)
    router.add_route("*", "/{path:(?s:.*)}", arm)


async def _dispatch(emulator: Emulator, request: web.Request) -> web.StreamResponse:
    route = routes.find(request.path.rstrip("/"))
    if route is None:
        raise ArmError(404, "InvalidResourceType", f"There is nothing at {request.path}.", "path")
    handlers, names, _ = route
    if request.method not in handlers:
        allowed = ", ".join(handlers)
        raise ArmError(405, "MethodNotAllowed", f"Only {allowed} can be used here.", "method")
    if is_form(request):
        message = "Send the body as JSON, with the header Content-Type: application/json."
        raise ArmError(415, "UnsupportedMediaType", message, "Content-Type")
    own = not routes.is_neighbour(handlers)
    query: Mapping[str, str] = request.query
    if own:
        query = parameters(request.rel_url.raw_query_string, route.parameters)
        _check_version(query)
    ids.check(names)
    only = emulator.settings.subscription
    if only is not None and names.get("subscription", only).lower() != only.lower():
        message = f"The subscription '{names['subscription']}' could not be found."
        raise ArmError(404, "SubscriptionNotFound", message, "subscription")
    call = Call(emulator, request, names, query)
    if own and "group" in names:
        _check_group(call)
    answer = await handlers[request.method](call)
    answer.headers["Cache-Control"] = "no-cache"
    return answer


def _check_group(call: Call) -> None:
    """The group in the path has to exist, and takes nothing new while it is being deleted."""
    if group_of(call).deleting and call.request.method == "PUT":
        name = call.names["group"]
        raise ArmError(409, "ResourceGroupBeingDeleted", f"The resource group {name} is being deleted.")


def _check_version(query: Mapping[str, str]) -> None:
    version = query.get("api-version")
    if version is None:
        raise invalid("The parameter api-version is required.", "api-version", "MissingApiVersionParameter")
    if version != API_VERSION:
        message = f"The api-version {version!r} is not supported; use {API_VERSION}."
        raise invalid(message, "api-version", "InvalidApiVersionParameter")


@web.middleware
async def _answer_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Errors in the contract's form."""
    number = str(uuid.uuid4())
    try:
        answer = await handler(request)
    except ArmError as error:
        answer = _error_answer(error)
    except web.HTTPRequestEntityTooLarge:
        answer = _error_answer(ArmError(413, "RequestEntityTooLarge", "The body is larger than 4 MiB."))
    except web.HTTPException:
        raise
    except StoreFullError as error:
        answer = _full(str(error))
    except Exception as error:  # noqa: BLE001 the entry point: a defect is answered, the emulator goes on
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            answer = _full(str(error.strerror))
        else:
            _log.exception("a defect of the emulator in %s %s", request.method, request.path)
            answer = _error_answer(
                ArmError(500, "InternalServerError", "The emulator has a defect; see its log.")
            )
    if not answer.prepared:
        answer.headers["x-ms-request-id"] = number
        answer.headers["request-id"] = number
    return answer


def _full(why: str) -> web.Response:
    """The client may send the same request again; clients do so by themselves."""
    message = f"{why}. Nothing has changed; make room on the disk of the emulator, and send it again"
    answer = _error_answer(ArmError(503, "InsufficientStorage", message))
    answer.headers["Retry-After"] = "5"
    return answer


def _error_answer(error: ArmError) -> web.Response:
    # The service repeats the message as the reason phrase, which holds printable ASCII only.
    reason = re.sub(r"[^ -~]", "?", error.message)[:200]
    body = json.dumps(error.body())
    return web.Response(status=error.status, reason=reason, text=body, content_type="application/json")
