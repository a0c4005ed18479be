"""Who did what through the HTTP API: one line for each act, where callers have names. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from shared.core.visible import is_visible

#: The longest text of a line that is shown: ours are shorter.
_LONGEST = 500


@dataclass(frozen=True)
class Act:
    """One request that changed something, or was forbidden to."""

    at: datetime
    #: the id of the caller, as `owner` of jobs
    by: str
    roles: tuple[str, ...]
    #: the operation, as in the OpenAPI document
    operation: str
    #: its subject, from the address: a job, a sweep, an event
    subject: str
    #: of the answer
    status: int
    #: its result, if that has an address of its own
    result: str = ""
    #: the team of the job, or of the sweep of jobs
    team: str = ""
    #: more of what was done, such as which rank was entered
    detail: str = ""

    @property
    def blob(self) -> str:
        """The blob of its line: one for each hour."""
        return self.at.astimezone(UTC).strftime("activity/%Y-%m-%d/%H.jsonl")

    @property
    def line(self) -> bytes:
        """The act as a line of JSON."""
        return json.dumps(self.as_json()).encode() + b"\n"

    def as_json(self) -> dict[str, object]:
        """The act as people see it, without members that are empty."""
        members: dict[str, object] = {
            "at": self.at.astimezone(UTC).isoformat(),
            "by": self.by,
            "roles": list(self.roles),
        }
        members |= {"operation": self.operation, "subject": self.subject, "status": self.status}
        members |= {"result": self.result} if self.result else {}
        members |= {"team": self.team} if self.team else {}
        return members | ({"detail": self.detail} if self.detail else {})

    def concerns(self, what: str) -> bool:
        """Whether it was about a job, a sweep or an event of that id, or made it."""
        return what in (self.subject, self.result.rpartition("/")[2])


def act_of(line: bytes) -> Act:
    """The act of a line. Raises ValueError for a torn line, and for one that Slipway does not write."""
    try:
        members: Any = json.loads(line)
        names = ("by", "operation", "subject")
        at, status = _moment(members["at"]), members["status"]
        texts = [members[name] for name in names]
        optional = [members.get(name, "") for name in ("result", "team", "detail")]
        roles = members["roles"]
        shown = [*texts, *optional, *roles]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("it is not an act") from error
    if not all(map(_is_shown, shown)):
        raise ValueError("a text cannot be shown")
    if type(status) is not int or not 100 <= status <= 599 or not isinstance(roles, list):
        raise ValueError("it is not an act")
    by, operation, subject = texts
    return Act(at, by, tuple(roles), operation, subject, status, *optional)


def _moment(text: str) -> datetime:
    """A time in UTC. Raises ValueError for one without a zone, and for one that no calendar of UTC has."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time lacks its zone")
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time is before or after all that can be written") from error


def _is_shown(text: object) -> bool:
    return isinstance(text, str) and len(text) <= _LONGEST and (text.isprintable() or is_visible(text))


class Hour(NamedTuple):
    """The part of the trail of one hour: its two digits, and its length in bytes."""

    name: str
    size: int


class Activity(Protocol):
    """The trail of acts, to which lines can only be added. Unknown lines are skipped."""

    async def add(self, act: Act) -> None:
        """Add the line of an act. Raises Unavailable."""

    async def days(self) -> Sequence[str]:
        """The days, in UTC, that have a line, such as 2026-11-25, in any order. Raises Unavailable."""

    async def hours(self, day: str) -> Sequence[Hour]:
        """The hours of a day that have a line, in any order. Raises Unavailable."""

    async def read(self, day: str, hour: str, start: int, end: int) -> bytes:
        """The bytes of an hour from `start` to before `end`; nothing if it is gone. Raises Unavailable."""
