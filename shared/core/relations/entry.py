"""entry: one transition in the history of a record. Pure."""

from __future__ import annotations

from pydantic import AwareDatetime

from shared.core.relations.contents import FrozenModel
from shared.core.states import JobState, Reason

#: Most entries of a record's history; beyond it the middle goes.
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
    #: what it waited for from then on; "" for nothing that is known
    waits: str = ""


def shortened(history: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """A history without its middle where it is long: a job that waits for weeks stays within one row."""
    if len(history) <= _HISTORY:
        return history
    return (*history[: _HISTORY // 4], *history[-_HISTORY // 2 :])
