"""retry: whether a failed attempt is followed by another one. Pure.

Two budgets, by whose fault it was: a preempted node costs a person nothing of what they allowed for their own
bugs. Attempts never overlap: a new one starts only after the cluster has said that the last one ended.
"""

from __future__ import annotations

from shared.backoff import full_jitter
from shared.job import Budget, Job, JobState, Reason

_BUDGETS = {
    Reason.PREEMPTED: "infrastructure",
    Reason.INFRASTRUCTURE: "infrastructure",
    Reason.USER: "user",
}
#: Seconds: the first wait, and the longest.
_BASE, _CAP = 30.0, 900.0


def spent_on_another(job: Job, state: JobState, reason: Reason | None) -> Budget | None:
    """What is spent when the job gets another attempt after this end; None when it gets none."""
    name = _BUDGETS.get(reason) if reason is not None else None
    if state is not JobState.FAILED or name is None or job.cancel:
        return None
    used: int = getattr(job.spent, name)
    if used >= getattr(job.retry, name):
        return None
    return job.spent.model_copy(update={name: used + 1})


def wait(attempt: int, jitter: float) -> float:
    """Seconds before an attempt, growing with its number."""
    return max(1.0, full_jitter(attempt, _BASE, _CAP, jitter))
