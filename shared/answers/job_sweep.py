"""A job sweep, and what came of asking for one."""

from __future__ import annotations

from typing import Any

from shared.answers.base import Answer, Time


class SweepDetail(Answer):
    """A sweep: the jobs of one template, and how far they are."""

    sweep_id: str
    name: str
    experiment: str
    cluster: str | None = None
    state: str
    """`active`, or `ended` once every job has ended."""
    total: int
    """The number of jobs."""
    parallel: int
    """How many of them may be at work at once."""
    at_work: int
    """How many have a seat among these."""
    waiting: int
    counts: dict[str, int]
    """How many ended, by the state in which they did."""
    cancel_requested: bool | None = None
    labels: dict[str, str] | None = None
    created_at: Time
    ended_at: Time | None = None
    parameters: dict[str, Any]
    """The parameters with their values, as they were written."""


class AcceptedSweep(SweepDetail):
    """The sweep that a request made, or joined."""

    notes: tuple[str, ...]
    """Every value that was filled in."""
