"""member: the part of a job sweep that one of its jobs holds. Pure."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

#: The reason code of a job that waits for a seat among those of its sweep.
WAITS = "SweepTurn"


class Member(BaseModel):
    """The job's part in a job sweep: which sweep, which of its jobs, with which values."""

    # Members that a newer version wrote stay, as in the record around them.
    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    index: int
    #: how many of the sweep's jobs may be at work at once
    parallel: int
    #: parameter → its value in this job: a number, a text, true or false
    values: dict[str, Any]

    @property
    def sentence(self) -> str:
        """The reason for the wait of a job without a seat."""
        return f"waits for its turn in the sweep {self.id}: at most {self.parallel} of its jobs run at once"
