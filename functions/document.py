"""The document of a request for a job: JSON, also as a CloudEvent in structured or in binary mode.

Specification: HTTP Protocol Binding for CloudEvents 1.0.2, section 3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import azure.functions as func

from functions.problem import body_of
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.intake.message import Request
    from shared.intake.reading.event import Event
    from shared.jobspec import Limits

_KEY_LENGTH = 256
#: The headers of every event in binary mode.
HEADERS = ("ce-specversion", "ce-type", "ce-source", "ce-id")
_EVENT, _BATCH = "application/cloudevents", "application/cloudevents-batch"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


async def document_of(req: func.HttpRequest, limits: Limits) -> Request:
    """The request for a job that an HTTP request brings. Raises Misuse without a body or for another type."""
    from shared.core.pacing.off_loop import off_loop
    from shared.intake.message import read_request

    event, body = event_of(req), body_of(req)
    return await off_loop(len(body), read_request, body, limits, event=event)


def event_of(req: func.HttpRequest) -> Event | None:
    """The event whose attributes are headers, and whose data is the body; None for any other request.

    Raises Misuse for a batch, for an event that is not JSON, and for a header that cannot be decoded.
    """
    from shared.intake.reading.event import Event

    kind = req.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind.startswith(_BATCH):
        raise Misuse(
            "a batch of events is not accepted here: each request is for one job",
            status=415,
            remedy=f"send each event by itself, as {_EVENT}+json, or put the batch on the queue jobs",
        )
    if kind.startswith(_EVENT):
        if kind not in (_EVENT, f"{_EVENT}+json"):
            raise Misuse(
                f"events of the type {kind[:80]} are not accepted", status=415, remedy=f"send {_EVENT}+json"
            )
        return None
    if not any(name in req.headers for name in HEADERS):
        return None
    _, type_, sender, identity = (_attribute(req, name) for name in HEADERS)
    return Event(type_, sender or None, identity)


def _attribute(req: func.HttpRequest, name: str) -> str:
    """The value of a header of an event: without quotes around it, and percent-decoded once."""
    text: str = req.headers.get(name, "").strip()
    if _QUOTED.fullmatch(text):
        text = re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise Misuse(
            f"the header {name} is not UTF-8 after percent-decoding", remedy="encode its value as UTF-8"
        ) from None


def key_of(req: func.HttpRequest, text: str | None) -> str | None:
    """The key, a string of Structured Fields (draft-ietf-httpapi-idempotency-key-header), or bare.

    Without that header: `text`, which its own rules bound.
    """
    key: str | None = req.headers.get("Idempotency-Key")
    if key is None:
        return text
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = re.sub(r'\\(["\\])', r"\1", key[1:-1])
    if not 1 <= len(key) <= _KEY_LENGTH:
        raise Misuse(f"Idempotency-Key must have 1 to {_KEY_LENGTH} characters", remedy="e.g. a UUID")
    return key
