"""Reads a message of the queue: a blob's arrival, a delayed look at a folder, or a request for a job.

Accepted forms: a job message (envelope), a bare job.json, a BlobCreated event in the Event Grid or the
CloudEvents schema, a CloudEvent that carries a job message, and the message by which the Functions host
announces a blob (BlobTriggerMessage.cs); each plain or base64. Pure.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shared.core.messages import (
    MESSAGE,
    FolderLook,
    JobsEnded,
    SweepExpansion,
    digest,
)
from shared.core.refusals import refused
from shared.core.teams.share import NO_TEAM, Share
from shared.intake.reading.event import (
    REJECTION,
    SUBMIT,
    Event,
    carries_job,
    event_in,
    is_job,
    refusal,
    unnamed,
)
from shared.intake.reading.unwrap import unwrap
from shared.intake.reading.wakeups import WAKE_UPS, BlobWritten, FolderRenamed, arrival, renamed, triggered
from shared.jobspec import (
    Envelope,
    JsonObject,
    Limits,
    Problem,
    Source,
    foreign_document,
    is_bare_job,
    problem,
    read,
    read_envelope,
    read_through,
    sound_members,
    unwrapped,
)

if TYPE_CHECKING:
    from shared.core.code.record import Code
    from shared.core.relations.dependency import Dependency

#: In an account with directories a file may get its name by a rename, which is then its only event.
_BLOB_CREATED = ("Microsoft.Storage.BlobCreated", "Microsoft.Storage.BlobRenamed")
#: The files of a renamed directory get no event of their own, and keep their times.
_FOLDER_RENAMED = "Microsoft.Storage.DirectoryRenamed"
_BLOB_TRIGGER = "BlobTrigger"


@dataclass(frozen=True)
class ForeignEvent:
    """A well-formed event that is not meant for Slipway."""

    type: str


@dataclass(frozen=True)
class Request:
    """A request for a job, as far as it could be read, with its problems so far."""

    envelope: Envelope
    document: dict[str, Any] | None
    payload: str
    key: str | None = None
    problems: tuple[Problem, ...] = ()
    #: pointers to the document and to its envelope in the message: "/spec" and "" in a job message
    pointer: str = ""
    envelope_at: str = ""
    #: the pointer to the document's properties in it, if they are not where they belong
    properties: str = "/properties"
    #: False for a document that had to be repaired to be read: it serves for diagnostics only
    readable: bool = True
    #: the text of the document, and the text of its envelope if that is another one
    text: Source | None = field(default=None, repr=False, compare=False)
    around: Source | None = field(default=None, repr=False, compare=False)
    #: scripts in the drop container: those that are missing, and those with Windows line endings
    absent: frozenset[str] = frozenset()
    crlf: frozenset[str] = frozenset()
    #: the archive that it runs, once it has been looked up; of 0 bytes if there is none
    code: Code | None = None
    #: the jobs that `after` and `afterFailure` name, once they have been looked up
    dependencies: tuple[Dependency, ...] = ()
    #: its team with the team's limits, once it is known
    share: Share = NO_TEAM
    #: of an event that lacks a part of its identity: what counts where it has no other key
    unnamed: Problem | None = None

    def known_by(self, key: str | None) -> Request:
        """The request at a door that knows it by this key: an event that nothing names is refused there."""
        if self.unnamed is None or key is not None:
            return self
        return replace(self, problems=(self.unnamed, *self.problems), unnamed=None)

    @property
    def size(self) -> int:
        """About the bytes of its document; jobs of a sweep and those that run again have no text."""
        if self.text is None:
            return len(json.dumps(self.document))
        return len(self.text.data) + (len(self.around.data) if self.around is not None else 0)


Message = BlobWritten | FolderRenamed | FolderLook | JobsEnded | SweepExpansion | ForeignEvent | Request


def read_message(body: bytes, limits: Limits) -> tuple[Message, ...]:
    """Read one queue message. Never raises: an unreadable one becomes a Request with problems."""
    return meaning(unwrap(body), limits)


def meaning(body: bytes, limits: Limits) -> tuple[Message, ...]:
    """The same for a text that is not wrapped."""
    source = Source(body, MESSAGE)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") and (messages := _batch(body, limits)):
        return messages
    document, problems = read_through(source, limits)
    message = _message_of(document, source, limits) if document is not None else None
    if problems or message is None:
        return (_unsound(source, problems, message),)
    return (message,)


def read_request(body: bytes, limits: Limits, name: str = MESSAGE, event: Event | None = None) -> Request:
    """Read a request for one job from any door: a bare job.json, an envelope, or an event with one.

    With `event`, the text is the data of that event, whose attributes came apart from it. Never raises.
    Problems call the text by `name`.
    """
    source = Source(body, name)
    document, problems = read_through(source, limits)
    if event is not None:
        return _carried(event, document, problems, source, limits)
    message = _message_of(document, source, limits) if document is not None else None
    if message is not None and not isinstance(message, Request):
        problems = (*problems, refusal(event_in(document or {}), document or {}))
    return _unsound(source, problems, message) if problems or not isinstance(message, Request) else message


def _carried(
    event: Event, data: JsonObject | None, problems: tuple[Problem, ...], source: Source, limits: Limits
) -> Request:
    """The request of an event whose text is its data. A faulty one has a key, too: it is one rejection."""
    request: Request | None = None
    if data is not None and (event.type == SUBMIT or is_job(data)):
        request = _request(data, digest(data), source, limits)
    if event.type != SUBMIT:
        problems = (*problems, refusal(event, {} if request is not None else data or {}))
    if problems or request is None:
        request = _unsound(source, problems, request)
    return _named(request, event)


def _unsound(source: Source, problems: tuple[Problem, ...], message: Message | None) -> Request:
    """The readable part of a faulty text. It requests nothing, but shows further problems."""
    payload = hashlib.sha256(source.data).hexdigest()
    if not isinstance(message, Request):
        return Request(Envelope(), None, payload, problems=problems, text=source, readable=False)
    problems = (*problems, *message.problems)
    return replace(message, payload=payload, key=None, problems=problems, readable=False)


def _batch(body: bytes, limits: Limits) -> tuple[Message, ...]:
    # Event Grid may deliver an array of events; the reader insists on objects, so wrap it.
    document, _ = read(b'{"events":' + body.lstrip(b"\xef\xbb\xbf") + b"}", limits)
    documents = document["events"] if document else []
    if not documents or not all(isinstance(document, dict) for document in documents):
        return ()
    source = Source(body, MESSAGE)
    return tuple(_message_of(one, source, limits, f"/{index}") for index, one in enumerate(documents))


def _message_of(document: JsonObject, source: Source, limits: Limits, pointer: str = "") -> Message:
    if document.get("Type") == _BLOB_TRIGGER and not carries_job(document):
        return triggered(document) or ForeignEvent(_BLOB_TRIGGER)
    event = event_in(document)
    if event is None:
        return _request(document, digest(document), source, limits, pointer)
    data = document.get("data")
    if event.type == SUBMIT:
        return _submitted(event, document, data, source, limits, f"{pointer}/data")
    if event.type in _BLOB_CREATED and (written := arrival(str(document.get("subject", "")))):
        return written
    if event.type == _FOLDER_RENAMED and (folder := renamed(str(document.get("subject", "")))):
        return folder
    if event.type in WAKE_UPS and (meaning := WAKE_UPS[event.type](data if isinstance(data, dict) else {})):
        return meaning
    if event.type == REJECTION or not (event.is_ours or carries_job(document)):
        return ForeignEvent(event.type[:100])
    return _refused(event, document, source, limits, pointer)


def _submitted(
    event: Event, document: JsonObject, data: Any, source: Source, limits: Limits, pointer: str
) -> Request:
    """The job message in an event."""
    if isinstance(data, dict):
        request = _request(data, digest(data), source, limits, pointer)
    else:
        remedy = 'write the job message as an object into "data", not as a text and not into "data_base64"'
        flaw = problem("SW008", pointer, "the event contains no job message", remedy)
        request = Request(
            Envelope(), None, digest(document), problems=(flaw,), text=source, envelope_at=pointer
        )
    return _named(request, event, pointer.removesuffix("/data"))


def _named(request: Request, event: Event, at: str = "") -> Request:
    """The request of an event, which is at this pointer: its key, or why it has none."""
    if request.key is not None:
        return request
    return replace(request, key=event.key, unnamed=unnamed(event, at))


def _refused(event: Event, document: JsonObject, source: Source, limits: Limits, pointer: str) -> Request:
    """An event of ours that means nothing, or one of others with a job: a rejection that says so.

    The job in it, if there is one, shows further problems, and whom the rejection concerns.
    """
    flaw = refusal(event, document).relocate(pointer)
    data = document.get("data")
    if isinstance(data, dict) and is_job(data):
        request = _request(data, digest(document), source, limits, f"{pointer}/data")
    else:
        request = Request(Envelope(), None, digest(document), text=source, envelope_at=pointer)
    return replace(request, key=event.key, problems=(flaw, *request.problems), readable=False)


def _request(
    document: dict[str, Any], payload: str, source: Source, limits: Limits, pointer: str = ""
) -> Request:
    if foreign_document(document) or unwrapped(document) or is_bare_job(document):
        return straighten(
            Request(Envelope(), document, payload, text=source, pointer=pointer, envelope_at=pointer)
        )
    envelope, envelope_problems = read_envelope(document, limits=limits)
    problems = tuple(one.relocate(pointer) for one in envelope_problems)
    spec = document.get("spec")
    request = Request(
        envelope or sound_members(document, envelope_problems),
        spec if isinstance(spec, dict) else None,
        payload,
        key=envelope.idempotency_key if envelope else None,
        problems=problems,
        pointer=f"{pointer}/spec",
        envelope_at=pointer,
        text=source,
    )
    return straighten(request)


def straighten(request: Request) -> Request:
    """The request with the job taken out of a wrong wrapper, if it is in one.

    Such a document serves for diagnostics only; a document of another format is dropped.
    """
    if request.document is None:
        return request
    if foreign := foreign_document(request.document):
        problems = (*request.problems, foreign.document(request.document).relocate(request.pointer))
        return replace(request, document=None, problems=problems, readable=False)
    if inner := unwrapped(request.document):
        problems = (*request.problems, inner.problem.relocate(request.pointer))
        return replace(
            request, document=inner.document, properties=inner.properties, problems=problems, readable=False
        )
    return request


def unused_key(envelope_at: str) -> Problem:
    """The warning of a folder with an idempotency key: its files are its key."""
    text = "a dropped folder is known by its files; this key makes no difference"
    return refused("SW115", f"{envelope_at}/idempotencyKey", text)


def as_dropped(request: Request) -> Request:
    """The request as the job file of a folder, which makes one job: a sweep in it is a problem."""
    if request.envelope.idempotency_key is not None:
        request = replace(request, problems=(*request.problems, unused_key(request.envelope_at)))
    if request.envelope.sweep is None:
        return request
    text = "a dropped folder makes one job, not a sweep"
    remedy = "send the job with its sweep to POST /api/sweeps, or to the queue"
    flaw = problem("SW069", f"{request.envelope_at}/sweep", text, remedy)
    envelope = request.envelope.model_copy(update={"sweep": None, "parallel": None})
    return replace(request, envelope=envelope, problems=(*request.problems, flaw))
