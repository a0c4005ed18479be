"""What jobs have used: node-hours, GPU-hours and money, at the prices when they were accepted. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict


class Rate(BaseModel):
    """What an hour of a job costs, by its part of its nodes.

    The price is that of when it was accepted: later ones do not change it.
    """

    # Members that a newer version wrote stay, as in the record around them.
    model_config = ConfigDict(frozen=True, extra="allow")

    per_hour: float
    currency: str


class Usage(NamedTuple):
    """What some jobs have used. `cost` has only the jobs whose price is known."""

    jobs: int = 0
    node_hours: float = 0.0
    gpu_hours: float = 0.0
    cost: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.jobs + other.jobs,
            self.node_hours + other.node_hours,
            self.gpu_hours + other.gpu_hours,
            self.cost + other.cost,
        )

    def as_json(self) -> dict[str, Any]:
        """As the API has it; hours and money with four decimals."""
        numbers = {"nodeHours": self.node_hours, "gpuHours": self.gpu_hours, "cost": self.cost}
        return {"jobs": self.jobs, **{name: round(number, 4) for name, number in numbers.items()}}


def month_of(moment: datetime) -> str:
    """The month of a moment in UTC, by which monthly quotas count, such as 2026-11."""
    return moment.astimezone(UTC).strftime("%Y-%m")


def seconds_between(start: datetime | None, end: datetime | None) -> float:
    """How long a run took; 0 if it has not started or ended, or if the clocks disagree."""
    return max(0.0, (end - start).total_seconds()) if start and end else 0.0
