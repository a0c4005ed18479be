"""Events with their deliveries, receivers, and dead letters."""

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
    """All events of a job, in order."""

    events: tuple[JobEvent, ...]


class Redelivered(Answer):
    """The ids of the events that will be sent again."""

    events: tuple[str, ...]


class ReceiverTested(Answer):
    """A receiver's response to a test event."""

    outcome: str
    status: int | None
    detail: str = Field(alias="said")
    ms: int


class DisabledReceiver(Answer):
    """An address to which no more events are sent."""

    url: str
    since: Time
    why: str


class DisabledReceivers(Answer):
    """Every address to which no more events are sent."""

    receivers: tuple[DisabledReceiver, ...]


class ReceiverBreaker(Answer):
    """The circuit breaker of a receiver: after repeated failures, events to it are held back for a while."""

    state: Literal["open", "half-open"]
    """`half-open`: the next event, or the one being sent, is the probe."""
    since: Time
    until: Time
    """When the next event may be sent."""


class ReceiverState(Answer):
    """A receiver with events that it has not accepted, or one that is disabled."""

    url: str
    """Shortened to the part that is not secret."""
    state: Literal["disabled", "failing", "dead", "waiting"]
    """`failing`: the last try failed, and there will be another; `dead`: every event that remains was given
    up."""
    since: Time | None = None
    """When the oldest of the tries that are still being repeated failed, or when the receiver was
    disabled."""
    next: Time | None = None
    """When the next try is due."""
    last: str
    """The last response, in words."""
    pending: int
    dead: int
    dead_events: tuple[str, ...]
    """The ids of the 50 newest events that were given up."""
    breaker: ReceiverBreaker | None = None
    """As the process that answers this request sees it; each process keeps its own."""


class ReceiverStates(Answer):
    """Every receiver with events that it has not accepted, and every disabled one."""

    receivers: tuple[ReceiverState, ...]


class DeadOne(Answer):
    """A message that failed too often, or an event that a receiver never accepted."""

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
    """The messages and events that were sent again."""

    id: str
    kind: Literal["message", "event"]
