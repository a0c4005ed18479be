"""event: what an event says of itself, apart from what it carries; and whether that is a job. Pure.

In CloudEvents (1.0, structured mode, or its attributes in headers) and in Event Grid's own schema.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from shared.core.messages import ENDED, MOST_ENDED
from shared.intake.reading.carried import is_job
from shared.intake.reading.wakeups import WAKE_UPS
from shared.jobspec import JsonObject, Problem, problem, quote, step

#: The type of an event that carries a job message.
SUBMIT = "io.slipway.job.submit.v1"
_JOB_MESSAGE = f"write the job itself, or an event of type {SUBMIT} with the job message as its data"
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
