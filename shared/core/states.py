"""The states of a job, the arrows between them, and the reasons. Pure.

States and reasons are few and separate: a state is where a job is, a reason is why it ended or waits.
"""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """Where a job is on its way from acceptance to its end."""

    #: The spec is valid and recorded; no submission has been tried, or a new attempt waits.
    ACCEPTED = "accepted"
    #: Engine, engine-side name and token are fixed; the engine may or may not have the job.
    SUBMITTING = "submitting"
    #: The engine has the job and no node runs it yet (again, after a preemption).
    QUEUED = "queued"
    #: At least one node runs it.
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    #: The engine forgot a job that it had; its end is unknown.
    LOST = "lost"
    #: The document cannot run; nothing was submitted.
    REJECTED = "rejected"

    @property
    def terminal(self) -> bool:
        """Whether the state never changes again."""
        return not ARROWS[self]


_S = JobState
_ENDS = frozenset({_S.SUCCEEDED, _S.FAILED, _S.CANCELLED, _S.LOST})

#: The whole lifecycle. A state without arrows is terminal. Back to ACCEPTED is a new attempt.
ARROWS: dict[JobState, frozenset[JobState]] = {
    _S.ACCEPTED: frozenset({_S.SUBMITTING}) | _ENDS,
    _S.SUBMITTING: frozenset({_S.QUEUED, _S.RUNNING, _S.ACCEPTED}) | _ENDS,
    _S.QUEUED: frozenset({_S.RUNNING, _S.ACCEPTED}) | _ENDS,
    _S.RUNNING: frozenset({_S.QUEUED, _S.ACCEPTED}) | _ENDS,
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.LOST: frozenset(),
    _S.REJECTED: frozenset(),
}


class Reason(StrEnum):
    """Why a job ended, or why it waits."""

    #: The job's own command returned a code other than zero.
    USER = "user"
    #: The job preparation command failed.
    PREPARATION = "preparation"
    #: A person or the service ended it.
    TERMINATED = "terminated"
    #: The wall-clock limit was reached.
    TIMEOUT = "timeout"
    #: A low-priority node was taken away.
    PREEMPTED = "preempted"
    #: The engine or a node failed, not the job.
    INFRASTRUCTURE = "infrastructure"
    #: The engine cannot honour something in the spec.
    UNSUPPORTED = "unsupported"
    #: The document breaks a rule of the format.
    INVALID = "invalid"
    #: Another job did not end as this one requires.
    DEPENDENCY = "dependency"
    #: It did nothing with its GPUs, or wrote nothing, for as long as the deployment allows.
    IDLE = "idle"
