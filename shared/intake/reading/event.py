"""event: what an event says of itself, and whether it carries a job, in any form in which it can. Pure.

In CloudEvents (1.0, structured mode, or its attributes in headers) and in Event Grid's own schema.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, NamedTuple

from shared.core.messages import ENDED, MOST_ENDED
from shared.intake.reading.unwrap import unwrap
from shared.intake.reading.wakeups import WAKE_UPS
from shared.jobspec import JsonObject, Problem, has_job_members, problem, quote, step

#: The type of an event that carries a job message.
SUBMIT = "io.slipway.job.submit.v1"
_JOB_MESSAGE = f"write the job itself, or an event of type {SUBMIT} with the job message as its data"
#: The type of our event about a rejection: one that came back would be rejected, and that would come back.
REJECTION = "io.slipway.job.rejected.v1"
#: How many wrappings around a job are opened: texts, base64, lists and events.
_WRAPPINGS = 5
#: The members of an event in which its data is, as it is or in base64.
_DATA = ("data", "data_base64")
#: How the types of our own events begin, perhaps after spaces and marks that a person does not see.
_OURS = re.compile(r"[\W_]*io\.slipway(?![a-z0-9])", re.IGNORECASE)


class Event(NamedTuple):
    """The type of an event, its sender, and its id there: members of its text, or headers beside its data."""

    type: str
    #: The source of a CloudEvent; None if it names none. In Event Grid's schema the topic, which is "" until
    #: Event Grid fills it in.
    sender: str | None
    id: str
    #: The pointer to the type in its text.
    type_at: str = ""

    @property
    def key(self) -> str | None:
        """The key that makes two deliveries of it one request; None without a sender or an id."""
        return f"{self.sender}|{self.id}" if self.sender is not None and self.id else None

    @property
    def is_ours(self) -> bool:
        """Whether its type is meant as one of ours, in any version and spelling."""
        return _OURS.match(self.type) is not None


def event_in(document: JsonObject) -> Event | None:
    """The event that a document is; None if it is none."""
    is_cloud_event = "specversion" in document
    names = ("type", "eventType") if is_cloud_event else ("eventType",)
    name = next((one for one in names if document.get(one) and isinstance(document[one], str)), None)
    if name is None:
        return None
    sender, identity = document.get("source" if is_cloud_event else "topic"), document.get("id")
    sender = str(sender) if sender else None if is_cloud_event else ""
    return Event(document[name], sender, str(identity or ""), f"/{name}")


def unnamed(event: Event, at: str) -> Problem | None:
    """The problem of an event, at this pointer, that nothing but its own attributes names; None with both."""
    if event.key is not None:
        return None
    absent = [name for name, value in (("id", event.id or None), ("source", event.sender)) if value is None]
    names = " and no ".join(f'"{name}"' if event.type_at else f"header ce-{name}" for name in absent)
    text = f"this event lacks its {names}, so that nothing shows whether it comes a second time"
    remedy = "give it both, the same at each try; or an Idempotency-Key or an idempotencyKey"
    return problem("SW010", f"{at}/{absent[0]}" if event.type_at else at, text, remedy)


def refusal(event: Event | None, document: JsonObject) -> Problem:
    """The problem of a text that asks for no job, or not as one does. Nothing of another event is shown."""
    if event is None or not event.type:
        return _hiding(document, problem("SW086", "", "this event does not request a job", _JOB_MESSAGE))
    at, data = event.type_at, document.get("data")
    if event.type in WAKE_UPS and not (isinstance(data, dict) and WAKE_UPS[event.type](data)):
        text = f"the data of this event is not as an event of the type {event.type} has it"
        remedy = f'write {{"jobs": [ID, …]}} as its data, with up to {MOST_ENDED:,} ids of jobs'
        return _hiding(document, problem("SW086", at, text, remedy if event.type == ENDED else _JOB_MESSAGE))
    text = f"this event does not request a job: its type is {quote(event.type[:100])}"
    return _hiding(document, problem("SW086", at, text, _JOB_MESSAGE))


def _hiding(document: JsonObject, flaw: Problem) -> Problem:
    shown = ("type", "eventType", *(("data",) if is_job(document.get("data")) else ()))
    return replace(flaw, unknown=frozenset(step("", name) for name in document if name not in shown))


def is_job(document: Any) -> bool:
    """Whether this is a job, or a message with one."""
    if not isinstance(document, dict):
        return False
    spec = document.get("spec")
    job = spec if isinstance(spec, dict) else document
    return isinstance(document.get("specBlob"), str) or has_job_members(job.get("properties"))


def carries_job(document: JsonObject) -> bool:
    """Whether an event, or its data, is a job or a message with one: an object, a text, base64 or a list."""
    return _holds(document, _WRAPPINGS)


def _holds(value: Any, depth: int) -> bool:
    if depth < 0:
        return False
    if isinstance(value, str):
        return _holds(_content(value), depth - 1)
    if isinstance(value, list):
        return any(_holds(one, depth - 1) for one in value)
    if not isinstance(value, dict):
        return False
    if is_job(value):
        return True
    # Our report of a rejection may quote the job: if it counted, it would be rejected, and reported again.
    return value.get("type") != REJECTION and any(_holds(value.get(name), depth - 1) for name in _DATA)


def _content(text: str) -> Any:
    """The JSON that a text holds, perhaps in base64; None if it holds none."""
    try:
        return json.loads(unwrap(text.encode()).strip())
    except (ValueError, RecursionError):
        return None
