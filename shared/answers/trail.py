"""The trail: who did what."""

from __future__ import annotations

from shared.answers.base import Answer, Time


class TrailAct(Answer):
    """A request that changed something, or was forbidden to."""

    at: Time
    by: str
    """The id of the caller."""
    roles: tuple[str, ...]
    operation: str
    """Its name in this document."""
    subject: str
    """The id of the job, the sweep or the event in the address; empty where it has none."""
    status: int
    """Of the answer."""
    result: str | None = None
    """The address of what came of it."""
    team: str | None = None
    """That of the job, or of the sweep."""
    detail: str | None = None
    """Of an entry: the rank, the engine and its cluster, and the number of the certificate."""


class Trail(Answer):
    """Some acts, the newest first. There may be more at `next`, even where there are few or none here."""

    acts: tuple[TrailAct, ...]
    unreadable: int
    """Lines that were passed over, because they are damaged; operators only."""
    next: str | None
