"""retry: whether a failed attempt is followed by another one. Pure.

Two budgets, by whose fault it was: a preempted node costs a person nothing of what they allowed for their own
bugs. Attempts never overlap: a new one starts only after the cluster has reported the end of the last one.
"""

from __future__ import annotations

from shared.core.engine import Earlier, Observation
from shared.core.identity import target
from shared.core.job import Budget, Job, JobState, Reason
from shared.core.pacing.backoff import full_jitter

_BUDGETS: dict[Reason | None, str] = {
    Reason.PREEMPTED: "infrastructure",
    Reason.INFRASTRUCTURE: "infrastructure",
    Reason.USER: "user",
}
#: Seconds: the first wait, and the longest.
_BASE, _CAP = 30.0, 900.0
#: Earlier attempts that an order names: more would not fit into it.
_MOST_ATTEMPTS = 50


def spent_on_another(job: Job, observation: Observation, most_free: int) -> Budget | None:
    """What is spent when the job gets another attempt after this end; None when it gets none.

    An attempt that the cluster did not start costs nothing, until so many have cost nothing: a job can have
    its attempts look so.
    """
    if job.cancel:
        return None
    if was_recalled(job, observation) or (observation.unstarted and free_attempts(job) < most_free):
        return job.spent
    name = _BUDGETS.get(Reason.INFRASTRUCTURE if observation.unstarted else observation.reason)
    if observation.state is not JobState.FAILED or name is None:
        return None
    used: int = getattr(job.spent, name)
    if used >= getattr(job.retry, name):
        return None
    return job.spent.model_copy(update={name: used + 1})


def free_attempts(job: Job) -> int:
    """Its attempts before this one that have cost no retry.

    Those that gave room back to a lender are none of them: another team's need is not the job's doing.
    """
    given_back = job.claim.returns if job.claim is not None else 0
    return max(0, job.attempt - 1 - job.spent.infrastructure - job.spent.user - given_back)


def was_recalled(job: Job, observation: Observation) -> bool:
    """Whether an attempt was ended because another team needs the quota that it lent to the job."""
    return job.is_recalled and not job.cancel and observation.state is JobState.CANCELLED


def not_started(job: Job, cost: str, observation: Observation) -> str:
    """The sentence about an attempt that its cluster did not start."""
    return f"attempt {job.attempt} was not started by the cluster ({cost}): {observation.message}"


def earlier(job: Job) -> tuple[Earlier, ...]:
    """The attempts before this one, the newest first. Each of them saw to those before it when it began."""
    engine = job.fixed_target.engine
    reasons: dict[int, Reason | None] = {}
    for entry in job.history:
        reasons.setdefault(entry.attempt - 1, entry.reason)  # what ended it began the next one
    newest = range(job.attempt - 1, max(0, job.attempt - 1 - _MOST_ATTEMPTS), -1)
    return tuple(Earlier(target(job, n, engine), reasons.get(n) or "") for n in newest)


def wait(attempt: int, jitter: float) -> float:
    """Seconds before an attempt; they grow with its number."""
    return max(1.0, full_jitter(attempt, _BASE, _CAP, jitter))
