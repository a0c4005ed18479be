"""event: what an event says of itself, apart from what it carries. Pure."""

from __future__ import annotations

from typing import NamedTuple

#: CloudEvents type of a job message.
SUBMIT = "io.slipway.job.submit.v1"


class Event(NamedTuple):
    """The type of an event, its sender, and its id there: members of its text, or headers beside its data."""

    type: str
    #: "" where it names none
    sender: str
    id: str

    @property
    def key(self) -> str | None:
        """The key that makes two deliveries of it one request; None without a sender or an id."""
        return f"{self.sender}|{self.id}" if self.sender and self.id else None
