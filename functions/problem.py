"""Answers of the HTTP API: JSON, and problem documents (RFC 9457)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import azure.functions as func

from shared.answers.mark import MARK, MARKED
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.base import Answer

T = TypeVar("T", bound="Answer")
HEADERS = {"Cache-Control": "no-store"}
#: The headers of every answer without stricter ones: a browser shows it as data, and in no frame. The mark
#: tells clients that Slipway answers, and not what stands before it.
AS_DATA = {
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


class Reply(func.HttpResponse, Generic[T]):
    """An answer whose JSON is a T, or a problem document."""

    #: For the trail, where no address names them: what was acted on, the teams of the jobs, and more of it.
    detail: str = ""
    subject: str = ""
    teams: tuple[str, ...] = ()


def answer(
    body: T | Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Reply[T]:
    """A response with a JSON body: an answer of the API, or its members where another room made them."""
    members = body if isinstance(body, Mapping) else body.as_json()
    return Reply(
        json.dumps(members, ensure_ascii=False),
        status_code=status,
        mimetype="application/json",
        headers={**HEADERS, **(headers or {})},
    )


def body_of(
    req: func.HttpRequest, *, optional: bool = False, remedy: str = "send a job.json, or an envelope with one"
) -> bytes:
    """The body of a request. Raises Misuse when there is none, and 411 for one that the host did not take.

    With `optional`, one that was left out is empty; `remedy`: what to send.
    """
    body: bytes = req.get_body()
    if not body.strip():
        if "chunked" in req.headers.get("Transfer-Encoding", "").lower():
            raise Misuse(
                "the request came in chunks, without its length, and Azure Functions drops such a body",
                status=411,
                remedy="send the header Content-Length: give the client the whole body, not a stream",
            )
        if optional:
            return b""
        raise Misuse("the request has no body", remedy=remedy)
    return body


def problem(
    status: int, detail: str, remedy: str = "", *, retry_after: float | None = None, **members: Any
) -> Reply[Any]:
    """A problem document (RFC 9457); `remedy` and other members are extensions. `retry_after`: seconds."""
    headers = HEADERS | AS_DATA
    headers |= {"Retry-After": str(math.ceil(retry_after))} if retry_after is not None else {}
    body = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}
    body |= {"remedy": remedy} if remedy else {}
    return Reply(
        json.dumps({**body, **members}, ensure_ascii=False),
        status_code=status,
        mimetype="application/problem+json",
        headers=headers,
    )
