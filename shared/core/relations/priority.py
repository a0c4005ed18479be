"""priority: which of two jobs that wait for the same is first. Pure."""

from __future__ import annotations

#: The priorities of a job, the first one first; a record without one has the normal one.
PRIORITIES = ("high", "normal", "low")


def rank(priority: str) -> int:
    """The place of a priority: the smaller is first."""
    return PRIORITIES.index(priority) if priority in PRIORITIES else PRIORITIES.index("normal")
