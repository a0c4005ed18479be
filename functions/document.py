"""The document of a request for a job, and the calls that only judge it.

It is JSON, also as a CloudEvent in structured or in binary mode.

Specification: HTTP Protocol Binding for CloudEvents 1.0.2, section 3.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import azure.functions as func

from functions.caller import caller
from functions.openapi.elements import EVENT, EXPLAINED, JOB_DOCUMENT, JOB_HEADERS, Parameter, text
from functions.openapi.operation import operation
from functions.problem import HEADERS, Reply, answer, body_of
from functions.process import ports
from shared.core.errors import Misuse

if TYPE_CHECKING:
    from shared.answers.problem import Validated
    from shared.intake.message import Request
    from shared.intake.reading.event import Event
    from shared.jobspec import Limits

blueprint = func.Blueprint()  # type: ignore[no-untyped-call]
_KEY_LENGTH = 256
#: The headers of every event in binary mode.
_EVENT_HEADERS = ("ce-specversion", "ce-type", "ce-source", "ce-id")
_EVENT, _BATCH = "application/cloudevents", "application/cloudevents-batch"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


async def document_of(req: func.HttpRequest, limits: Limits) -> Request:
    """The request for a job that an HTTP request brings. Raises Misuse without a body or for another type."""
    from shared.core.pacing.off_loop import off_loop
    from shared.intake.message import read_request

    event, body = event_of(req), body_of(req)
    return await off_loop(len(body), read_request, body, limits, event=event)


async def document_in(req: func.HttpRequest, limits: Limits) -> Mapping[str, Any]:
    """The JSON object that is the body of a request. Raises Misuse for any other body."""
    from shared.core.pacing.off_loop import off_loop
    from shared.jobspec import read

    body = body_of(req, remedy="send a JSON object")
    document, problems = await off_loop(len(body), read, body, limits)
    if document is None:
        raise Misuse(problems[0].message, remedy="send a JSON object")
    return document


class Visitor(NamedTuple):
    """The rank that a person wants to enter, and a key of theirs; "" without one."""

    rank: int
    public_key: str


async def visitor_of(req: func.HttpRequest, limits: Limits) -> Visitor:
    """The rank that a request is about, 0 if it names none, and its key. Raises Misuse."""
    from shared.core.relations.permit import PUBLIC_KEY

    document = await document_in(req, limits) if body_of(req, optional=True) else {}
    rank, public_key = document.get("rank", 0), document.get("publicKey", "")
    if type(rank) is not int or rank < 0 or document.keys() - {"rank", "publicKey"}:
        remedy = 'send {"rank": 0}, or nothing'
        raise Misuse("the body has `rank`, a number from 0 on, and `publicKey`, or nothing", remedy=remedy)
    if "publicKey" in document and not (isinstance(public_key, str) and PUBLIC_KEY.fullmatch(public_key)):
        remedy = "make a key for this session: ssh-keygen -t ed25519; send its kind and its 68 characters"
        raise Misuse("`publicKey` is not the public half of an ed25519 key, without a remark", remedy=remedy)
    return Visitor(rank, public_key)


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
    if not any(name in req.headers for name in _EVENT_HEADERS):
        return None
    _, type_, sender, identity = (_attribute(req, name) for name in _EVENT_HEADERS)
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


@operation(blueprint, "POST", "validate", refused=(413,), headers=EVENT, body=JOB_DOCUMENT)
async def validate(req: func.HttpRequest) -> Reply[Validated]:
    """Validate a document without running it.

    `valid`, and every problem.
    """
    from shared.intake.request_door import request_validated
    from shared.jobspec import report

    app = ports()
    request = await document_of(req, app.policy.limits)
    draft = await request_validated(app, request.known_by(key_of(req, request.key)), caller())
    return answer(report.as_json(draft.problems, valid=draft.valid, notes=draft.notes))


@operation(
    blueprint,
    "POST",
    "explain",
    answers={200: EXPLAINED},
    refused=(409, 413, 422),
    query=(
        text("folder", "treat the document as the job file of this folder of the drop container"),
        text("script", "the script that a template is for"),
        Parameter("format", "json is the default", {"enum": ["json", "markdown"]}),
    ),
    headers=JOB_HEADERS,
    body=JOB_DOCUMENT,
)
async def explain(req: func.HttpRequest) -> func.HttpResponse:
    """Explain what would happen to a job.

    [What would happen](explain.md), without running anything.
    """
    from shared.core.job import Drop
    from shared.intake.explanation.explain_text import markdown
    from shared.intake.request_door import request_explained

    app, who = ports(), caller()
    if (form := req.params.get("format", "json")) not in ("json", "markdown"):
        raise Misuse(f"there is no format {form[:40]!r}", remedy="use json or markdown")
    request = await document_of(req, app.policy.limits)
    folder, script = req.params.get("folder", "").strip("/"), req.params.get("script", "")
    drop = None
    if folder:
        drop = Drop(
            container=app.policy.drop_container, folder=folder, job_file="job.json", files={}, etags={}
        )
    key = key_of(req, request.key)
    request = dataclasses.replace(request if folder else request.known_by(key), key=None)
    body = await request_explained(
        app, request, source=who.source, key=key, drop=drop, script=script, who=who
    )
    if form == "json":
        return answer(body)
    return func.HttpResponse(markdown(body), status_code=200, mimetype="text/markdown", headers=HEADERS)
