"""Job events: their content, their receivers, and their frozen bytes. Pure.

Events are CloudEvents 1.0 in structured JSON; the id is a function of job, sequence and type, so that every
delivery of one event, after any crash, carries one id and one body.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from shared.core.job import Entry, Job, JobState
from shared.core.notify.cloudevents import cloud_event, event_id
from shared.core.view import summary

#: The address of the delivery that rewrites the receipt: after a crash, too, a drop has its answer.
RECEIPT = "receipt:"
#: The address of the delivery to the queue, for receivers that prefer to pull.
NOTICES = "queue:job-notices"

#: The beginning of the identities under which the events of operators stand, in place of a job.
OF_OPERATORS = "o_"

#: The word of an event between two states → the end that it announces: receivers of that end get it.
_ANNOUNCED = {"idle": JobState.CANCELLED.value, "held": JobState.FAILED.value}

#: Tries of one delivery that a row keeps: the whole schedule, and some more after a redelivery.
_TRIES = 16


class _Row(BaseModel):
    """A part of an outbox row; aliases are the names that rows have always had."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",  # unknown members, which a newer version wrote
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class Try(_Row):
    """One POST: its time, the status (None: no answer), the milliseconds, and a description."""

    at: AwareDatetime
    status: int | None = None
    ms: int
    detail: str = Field(alias="said")


class Delivery(_Row):
    """An event on its way to one receiver, to the queue of notices, or to the receipt of its job."""

    url: str
    secret: str | None = None
    sealed: str | None = None
    #: what the sealed address is bound to
    context: str = Field(default="", alias="place")
    #: its tries since it began, or began again; `tries` holds the outcomes of the last ones
    try_count: int = Field(default=0, alias="attempts")
    due: AwareDatetime
    #: pending, delivered, dead
    state: str = "pending"
    last: str = ""
    tries: tuple[Try, ...] = ()

    @property
    def webhook(self) -> bool:
        """Whether it is a receiver's address, and not a receipt or a queue of ours."""
        return self.url not in (RECEIPT, NOTICES)

    def with_try(self, one: Try, **changes: str) -> Delivery:
        """The same after another POST, with its consequences; the oldest tries are dropped."""
        tried = {"try_count": self.try_count + 1, "tries": (*self.tries, one)[-_TRIES:]}
        return self.model_copy(update=tried | changes)


class Notice(_Row):
    """An outbox row: one recorded event and its deliveries. The body never changes."""

    job_id: str
    sequence: int
    event_id: str
    type: str
    body: str
    deliveries: tuple[Delivery, ...] = Field(alias="targets")
    due: AwareDatetime
    #: when its delivery began, or began again
    since: AwareDatetime

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do: every delivery is delivered or dead."""
        return self.state != "pending"

    @property
    def state(self) -> str:
        """The most important of its deliveries' states, in the order pending, dead, delivered."""
        states = {delivery.state for delivery in self.deliveries}
        return next((state for state in ("pending", "dead") if state in states), "delivered")


def notice_of(
    job: Job,
    previous: JobState | None,
    *,
    entry: Entry,
    source: str,
    due: datetime,
    pull: bool,
    receipt: bool,
) -> Notice | None:
    """The outbox row of one entry of the record's history, or None if it has no receiver.

    An end of a drop, a rejection, or an end without a receiver gets a receipt; with `receipt` every end does.
    """
    if entry.state is JobState.SUBMITTING:
        return None  # an intent, not an event of the job
    deliveries = _deliveries(job, entry.state.value, due, pull=pull)
    answered = receipt or job.drop is not None or entry.state is JobState.REJECTED or not deliveries
    if entry.state.terminal and answered:
        deliveries = (Delivery(url=RECEIPT, due=due), *deliveries)
    return _notice(job, entry, entry.state.value, deliveries, source, due, previous)


def announcement_of(job: Job, word: str, *, source: str, due: datetime, pull: bool) -> Notice | None:
    """The outbox row of what announces an end, the last entry of the record; None if it has no receiver.

    That is a warning, or that a failed job is held. The receivers of the end that follows get it.
    """
    deliveries = _deliveries(job, _ANNOUNCED[word], due, pull=pull)
    return _notice(job, job.history[-1], word, deliveries, source, due)


def _notice(
    job: Job,
    entry: Entry,
    word: str,
    deliveries: tuple[Delivery, ...],
    source: str,
    due: datetime,
    previous: JobState | None = None,
) -> Notice | None:
    if not deliveries:
        return None
    type_ = f"io.slipway.job.{word}.v1"
    identity = event_id(job.id, entry.sequence, type_)
    event = partial(
        cloud_event, id=identity, source=source, type=type_, subject=f"jobs/{job.id}", time=entry.at
    )
    data = _data(job, previous, entry)
    try:
        body = event(data=data)
    except ValueError:  # too large: drop the texts that a person wrote, keep the facts
        body = event(data={name: value for name, value in data.items() if name not in ("problems", "labels")})
    return Notice(
        job_id=job.id,
        sequence=entry.sequence,
        event_id=identity,
        type=type_,
        body=body.decode(),
        deliveries=deliveries,
        due=due,
        since=entry.at,
    )


def _deliveries(job: Job, event: str, due: datetime, *, pull: bool) -> tuple[Delivery, ...]:
    """To the receivers that asked for an event, and to the queue of notices."""
    deliveries = [
        Delivery(url=s.url, secret=s.secret, sealed=s.sealed, context=s.context, due=due)
        for s in job.notify
        if event in s.events
    ]
    if pull:
        deliveries.append(Delivery(url=NOTICES, due=due))
    return tuple(deliveries)


def _data(job: Job, previous: JobState | None, entry: Entry) -> dict[str, Any]:
    data = {
        **summary(job),
        "jobId": job.id,
        "state": entry.state.value,
        "sequence": entry.sequence,
        "message": job.message[:2000],
    }
    if previous is not None:
        data["previousState"] = previous.value
    if job.problems:
        data["problems"] = list(job.problems[:10])
    return {name: value for name, value in data.items() if value != ""}
