"""entry: one transition in the history of a record. Pure."""

from __future__ import annotations

from pydantic import AwareDatetime

from shared.core.relations.contents import FrozenModel
from shared.core.states import JobState, Reason

#: The most entries of a record's history; beyond that the middle is dropped.
_HISTORY = 120


class Entry(FrozenModel):
    """One recorded transition. `token` recognises our own write when its answer was lost."""

    sequence: int
    state: JobState
    at: AwareDatetime
    token: str
    attempt: int = 1
    reason: Reason | None = None
    note: str = ""
    #: the reason for its wait from then on; "" if none is known
    waits: str = ""


def shortened(history: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """A history without its middle where it is long: a job that waits for weeks stays within one row."""
    if len(history) <= _HISTORY:
        return history
    return (*history[: _HISTORY // 4], *history[-_HISTORY // 2 :])
