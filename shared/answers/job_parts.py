"""What a job has only where it is asked for alone: its attempts, its last lines, its expected start."""

from __future__ import annotations

from shared.answers.base import Answer, ReasonWord, StateWord, Time


class ExpectedStart(Answer):
    """When a job that waits is expected to start, from what is known now."""

    earliest: Time | None = None
    latest: Time | None = None
    """Missing where that is not known."""
    why: str


class ErrorLines(Answer):
    """The last lines that a failed job wrote to standard error, or to standard output if to no other."""

    file: str
    offset: int
    """The byte of the file at which they begin, or one a little before: the `offset` of its log."""
    lines: tuple[str, ...]
    """At most 20, without the job's secrets; the whole file may have been continued since."""


class JobAttempt(Answer):
    """What happened to an attempt."""

    attempt: int
    name: str
    """Its name on the cluster."""
    state: StateWord
    accepted_at: Time | None = None
    submitting_at: Time | None = None
    queued_at: Time | None = None
    running_at: Time | None = None
    ended_at: Time | None = None
    reason: ReasonWord | None = None
    message: str | None = None
