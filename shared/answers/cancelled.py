"""The answer to a cancellation of all jobs that fit."""

from __future__ import annotations

from shared.answers.base import Answer, StateWord
from shared.answers.problem import ProblemDocument


class CancelledJob(Answer):
    """A job whose end was asked for."""

    id: str
    name: str
    state: StateWord


class KeptJob(Answer):
    """A job whose end was not asked for."""

    id: str
    name: str
    why: str
    again: bool | None = None
    """True if there was no time left for it: the same request, sent again, goes on with it."""


class CancelledJobs(Answer):
    """The jobs that fitted the conditions of a cancellation, the newest first."""

    jobs: tuple[CancelledJob, ...]
    refused: tuple[KeptJob, ...]
    """Those that the caller may not change, or that could not be reached now."""


class OtherNumber(ProblemDocument):
    """The refusal to cancel another number of jobs than expected."""

    number: int | None = None
    """How many fit; missing beyond 10,000."""
