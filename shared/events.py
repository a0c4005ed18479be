"""Job events: what is told, to whom, and the frozen bytes of it. Pure.

Events are CloudEvents 1.0 in structured JSON; the id is a function of job, sequence and type, so that every
delivery of one event, after whatever crash, carries one id and one body.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict

from shared.cloudevents import cloud_event, event_id
from shared.job import Entry, Job, JobState
from shared.view import summary

#: The outbox target that rewrites the receipt, so that a crash never leaves a drop without its answer.
RECEIPT = "receipt:"
#: The outbox target for those who prefer to pull.
NOTICES = "queue:job-notices"


class Delivery(BaseModel):
    """One target of one event, and how far it is."""

    model_config = ConfigDict(frozen=True)

    url: str
    secret: str | None = None
    sealed: str | None = None
    #: what the sealed address is bound to
    place: str = ""
    attempts: int = 0
    due: datetime
    #: pending, delivered, dead
    state: str = "pending"
    last: str = ""


class Notice(BaseModel):
    """An outbox row: one recorded event and its targets. The body never changes."""

    model_config = ConfigDict(frozen=True)

    job_id: str
    sequence: int
    event_id: str
    type: str
    body: str
    targets: tuple[Delivery, ...]
    due: datetime

    @property
    def settled(self) -> bool:
        """Whether nothing is left to do: every target is delivered or dead."""
        return all(target.state != "pending" for target in self.targets)


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
    """The outbox row of one entry of the record's history, or None when nobody asked for it.

    An end gets a receipt when it is a drop's, or a rejection, or nobody else is told; with `receipt` always.
    """
    if entry.state is JobState.SUBMITTING:
        return None  # an intent, not something that happened to the job
    targets = [
        Delivery(url=s.url, secret=s.secret, sealed=s.sealed, place=s.place, due=due)
        for s in job.notify
        if entry.state.value in s.events
    ]
    if pull:
        targets.append(Delivery(url=NOTICES, due=due))
    answered = receipt or job.drop is not None or entry.state is JobState.REJECTED or not targets
    if entry.state.terminal and answered:
        targets.insert(0, Delivery(url=RECEIPT, due=due))
    if not targets:
        return None
    type_ = f"io.slipway.job.{entry.state.value}.v1"
    identity = event_id(job.id, entry.sequence, type_)
    event = partial(
        cloud_event, id=identity, source=source, type=type_, subject=f"jobs/{job.id}", time=entry.at
    )
    data = _data(job, previous, entry)
    try:
        body = event(data=data)
    except ValueError:  # too large: what a person wrote goes, the facts stay
        body = event(data={name: value for name, value in data.items() if name not in ("problems", "labels")})
    return Notice(
        job_id=job.id,
        sequence=entry.sequence,
        event_id=identity,
        type=type_,
        body=body.decode(),
        targets=tuple(targets),
        due=due,
    )


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
