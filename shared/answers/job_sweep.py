"""A job sweep, and the result of a request for one."""

from __future__ import annotations

from typing import Any

from shared.answers.base import Answer, Time
from shared.answers.job import JobCode


class SweepLine(Answer):
    """A sweep in a list: the jobs of one template, and their progress."""

    sweep_id: str
    name: str
    experiment: str
    cluster: str | None = None
    state: str
    """`active`, or `ended` once every job has ended."""
    total: int
    """The number of jobs."""
    parallel: int
    """How many of them may be active at the same time."""
    at_work: int
    """How many seats are taken."""
    waiting: int
    counts: dict[str, int]
    """How many jobs have ended, by their final state."""
    cancel_requested: bool | None = None
    labels: dict[str, str] | None = None
    created_at: Time
    ended_at: Time | None = None


class SweepList(Answer):
    """The sweeps that are active, the newest first, and then those that have ended, the last end first."""

    sweeps: tuple[SweepLine, ...]
    more: bool
    """Whether there are more than these, or may be."""


class SweepDetail(SweepLine):
    """A sweep with the parameters of its template."""

    code: JobCode | None = None
    """The archive that each of its jobs runs."""
    parameters: dict[str, Any]
    """The parameters and their values, as they were written."""


class AcceptedSweep(SweepDetail):
    """The sweep that a request created or joined."""

    notes: tuple[str, ...]
    """Every value that was filled in."""
