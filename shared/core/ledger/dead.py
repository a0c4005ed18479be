"""Messages that no try could process, kept for a person, and the port to them. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class DeadMessage:
    """One message. `body` is base64, sealed where a key is configured: it may hold secrets of any sender."""

    id: str
    #: the door's queue, and the id by which the message is known there
    queue: str
    message_id: str
    body: str
    sealed: bool
    at: datetime
    reason: str
    #: SHA-256 of the plain body, which shows that two are the same
    digest: str


#: The id of a dead message.
DEAD_ID = re.compile(r"d_[0-9a-f]{24}", re.ASCII)


def dead_id(queue: str, message_id: str) -> str:
    """The id of a dead message: the same however often it is kept."""
    return "d_" + hashlib.sha256(f"{queue}|{message_id}".encode()).hexdigest()[:24]


class DeadMessages(Protocol):
    """The dead messages of all queues. Every verb may be repeated safely."""

    async def keep(self, message: DeadMessage) -> None:
        """Keep it; one with the same id is replaced."""

    async def get(self, message_id: str) -> DeadMessage | None:
        """A message by its id; None where there is none."""

    async def all(self) -> list[DeadMessage]:
        """Every one, the oldest first."""

    async def forget(self, message_id: str) -> None:
        """Delete it; a missing one counts as success."""
