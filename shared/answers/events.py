"""Events with their deliveries, receivers, and what is dead."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shared.answers.base import Answer, Time


class DeliveryTry(Answer):
    """One POST to a receiver."""

    at: Time
    status: int | None
    ms: int
    detail: str = Field(alias="said")


class EventDelivery(Answer):
    """An event's way to one receiver."""

    url: str
    state: Literal["pending", "delivered", "dead"]
    try_count: int = Field(alias="attempts")
    last: str
    tries: tuple[DeliveryTry, ...]
    next: Time | None = None
    """When the next try is due."""


class JobEvent(Answer):
    """An event of a job that has a receiver."""

    id: str
    job: str
    sequence: int
    type: str
    state: Literal["pending", "delivered", "dead"]
    targets: tuple[EventDelivery, ...]


class JobEvents(Answer):
    """All of a job, in order."""

    events: tuple[JobEvent, ...]


class Redelivered(Answer):
    """The ids of the events that are sent again."""

    events: tuple[str, ...]


class ReceiverTested(Answer):
    """What a receiver answered to a test."""

    outcome: str
    status: int | None
    detail: str = Field(alias="said")
    ms: int


class DisabledReceiver(Answer):
    """An address that gets no more events."""

    url: str
    since: Time
    why: str


class DisabledReceivers(Answer):
    """Every address that gets no more events."""

    receivers: tuple[DisabledReceiver, ...]


class ReceiverBreaker(Answer):
    """A receiver that failed so often that no event is sent there for a while."""

    state: Literal["open", "half-open"]
    """`half-open`: the next event, or the one under way, shows whether it answers again."""
    since: Time
    until: Time
    """When the next event is let through."""


class ReceiverState(Answer):
    """A receiver that has not taken all its events, or that is disabled."""

    url: str
    """Shortened to what is not secret."""
    state: Literal["disabled", "failing", "dead", "waiting"]
    """`failing`: the last try failed, and there will be another; `dead`: all that is left was given up."""
    since: Time | None = None
    """When the first of the tries failed that are still repeated, or when it was disabled."""
    next: Time | None = None
    """When the next try is due."""
    last: str
    """The last answer, in words."""
    pending: int
    dead: int
    dead_events: tuple[str, ...]
    """The ids of the newest 50 events that were given up."""
    breaker: ReceiverBreaker | None = None
    """As the process that answers has learnt; each process learns for itself."""


class ReceiverStates(Answer):
    """Every receiver that has not taken all its events, and every disabled one."""

    receivers: tuple[ReceiverState, ...]


class DeadOne(Answer):
    """A message that failed too often, or an event that some receiver never took."""

    id: str
    kind: Literal["message", "event"]
    queue: str | None = None
    job: str | None = None
    since: Time
    reason: str
    sha256: str | None = None
    """Of the message."""


class DeadList(Answer):
    """Every dead message and event."""

    dead: tuple[DeadOne, ...]


class Redriven(Answer):
    """What was sent on its way again."""

    id: str
    kind: Literal["message", "event"]
