"""RFC 9457 problem documents, and the one place where our errors become HTTP answers."""

from __future__ import annotations

import functools
import json
import logging
import math
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import azure.functions as func

from functions.caller import challenge, identify, sign_in
from functions.query import check_query
from functions.ranges import if_changed
from shared.answers.mark import MARK, MARKED
from shared.core.errors import EngineError, Misconfigured, Misuse, SlipwayError, Unreadable, status_of

log = logging.getLogger(__name__)
Handler = Callable[[func.HttpRequest], Awaitable[func.HttpResponse]]

#: The media types that a web page may send across origins without a preflight request.
_FORM_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
HEADERS = {"Cache-Control": "no-store"}
#: The headers of every answer without stricter ones: a browser shows it as data, and in no frame. The mark
#: tells clients that Slipway answers, and not what stands before it.
_AS_DATA = {
    MARK: MARKED,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    409: "Conflict",
    410: "Gone",
    411: "Length required",
    412: "Changed",
    413: "Too large",
    415: "Unsupported media type",
    416: "No such range",
    422: "The document cannot run",
    429: "Too many requests",
    500: "Internal error",
    502: "The cluster does not answer",
    503: "Not available now",
}


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> func.HttpResponse:
    """A response with a JSON body."""
    return func.HttpResponse(
        json.dumps(body, ensure_ascii=False),
        status_code=status,
        mimetype="application/json",
        headers={**HEADERS, **(headers or {})},
    )


def body_of(req: func.HttpRequest) -> bytes:
    """The body of a request. Raises Misuse when there is none, and 411 for one that the host did not take."""
    body: bytes = req.get_body()
    if not body.strip():
        if "chunked" in req.headers.get("Transfer-Encoding", "").lower():
            raise Misuse(
                "the request came in chunks, without its length, and Azure Functions drops such a body",
                status=411,
                remedy="send the header Content-Length: give the client the whole document, not a stream",
            )
        raise Misuse("the request has no body", remedy="send a job.json, or an envelope with one")
    return body


def _refuse_form(req: func.HttpRequest) -> None:
    kind = req.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind in _FORM_TYPES and req.get_body():
        raise Misuse(
            f"a body of the type {kind} is not accepted: any web page could have sent it",
            status=415,
            remedy="send the header Content-Type: application/json (curl: --json @FILE)",
        )


def problem(
    status: int, detail: str, remedy: str = "", *, retry_after: float | None = None, **members: Any
) -> func.HttpResponse:
    """A problem document (RFC 9457); `remedy` and other members are extensions. `retry_after`: seconds."""
    headers = HEADERS | _AS_DATA
    headers |= {"Retry-After": str(math.ceil(retry_after))} if retry_after is not None else {}
    body = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}
    body |= {"remedy": remedy} if remedy else {}
    return func.HttpResponse(
        json.dumps({**body, **members}, ensure_ascii=False),
        status_code=status,
        mimetype="application/problem+json",
        headers=headers,
    )


def api_route(*parameters: str) -> Callable[[Handler], Handler]:
    """Answer callers with the right to ask, and turn the errors of a handler into problem documents.

    `parameters`: all that the query may have.
    """

    def border(handler: Handler) -> Handler:
        @functools.wraps(handler)
        async def checked(req: func.HttpRequest) -> func.HttpResponse:
            from functions.activity import acting

            await identify(req)
            check_query(req, parameters)
            async with acting(req, handler.__name__) as act:
                return act.answered(await handler(req))

        return _bordered(checked, parameters)

    return border


def public_route(*parameters: str) -> Callable[[Handler], Handler]:
    """The same for a route without authentication."""

    def border(handler: Handler) -> Handler:
        @functools.wraps(handler)
        async def checked(req: func.HttpRequest) -> func.HttpResponse:
            check_query(req, parameters)
            return await handler(req)

        return _bordered(checked, parameters, public=True)

    return border


def _as_data(answer: func.HttpResponse) -> func.HttpResponse:
    for name, value in _AS_DATA.items():
        answer.headers.setdefault(name, value)
    return answer


def _bordered(handler: Handler, parameters: Collection[str], *, public: bool = False) -> Handler:
    @functools.wraps(handler)
    async def wrapped(req: func.HttpRequest) -> func.HttpResponse:
        try:
            _refuse_form(req)
            return _as_data(if_changed(req, await handler(req)))
        except Misuse as error:
            members = sign_in() if error.status == 401 else {}
            refused = problem(
                status_of(error), str(error), error.remedy, retry_after=error.retry_after, **members
            )
            if error.status == 401:
                refused.headers["WWW-Authenticate"] = challenge()
            return refused
        except Misconfigured as error:
            # It may quote a setting, and the caller may be anonymous.
            log.error("misconfigured: %s", error)
            what, remedy = "this deployment is misconfigured", "ask its operator: the log names the setting"
            return problem(status_of(error), what, remedy)
        except EngineError as error:
            return problem(status_of(error), str(error), "ask again in a minute; jobs are not affected")
        except Unreadable as error:
            remedy = f"ask the operator of this deployment: {error.remedy}"
            return problem(status_of(error), f"{error}; it is damaged, or a newer version wrote it", remedy)
        except SlipwayError as error:
            log.warning("unavailable: %s", error)
            remedy = "send the same request again, with the same Idempotency-Key"
            return problem(status_of(error), str(error), remedy)
        except Exception as error:
            # The entry point: on any other error the caller gets a document, and the log the traceback.
            log.exception("unexpected")
            return problem(status_of(error), "unexpected error", "ask the operator of this deployment")

    # Tests compare the description of the API with these.
    vars(wrapped).update(parameters=parameters, public=public)
    return wrapped
