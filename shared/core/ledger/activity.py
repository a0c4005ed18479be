"""Who did what through the HTTP API: one line for each act, where callers have names. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


@dataclass(frozen=True)
class Act:
    """One request that changed something, or was forbidden to."""

    at: datetime
    #: the id of the caller, as `owner` of jobs
    by: str
    roles: tuple[str, ...]
    #: the operation, as in the OpenAPI document
    operation: str
    #: what it was about, from the address: a job, a sweep, an event
    subject: str
    #: of the answer
    status: int
    #: what came of it, if that has an address of its own
    result: str = ""

    @property
    def blob(self) -> str:
        """The blob of its line: one for each hour."""
        return self.at.astimezone(UTC).strftime("activity/%Y-%m-%d/%H.jsonl")

    @property
    def line(self) -> bytes:
        """The act as a line of JSON."""
        members: dict[str, object] = {
            "at": self.at.astimezone(UTC).isoformat(),
            "by": self.by,
            "roles": list(self.roles),
        }
        members |= {"operation": self.operation, "subject": self.subject, "status": self.status}
        members |= {"result": self.result} if self.result else {}
        return json.dumps(members).encode() + b"\n"


class Activity(Protocol):
    """The trail of acts, to which lines can only be added."""

    async def add(self, act: Act) -> None:
        """Add the line of an act. Raises Unavailable."""
