"""due: whether a job, as its record or its row says, has waited until its time. Pure."""

from __future__ import annotations

from datetime import datetime

from shared.core.job import Job
from shared.core.ledger.entries import Active
from shared.core.pacing.wait_kinds import WaitKind
from shared.core.policy import Policy


def is_due(policy: Policy, one: Active | Job, now: datetime) -> bool:
    """Whether it is due for its next step, as far as that is a matter of time.

    No job waits for its slot of the hour where the limit on that was switched off meanwhile.
    """
    if one.wait is WaitKind.SLOT and not policy.max_jobs_per_hour:
        return True
    return policy.is_over(one.wait, one.due, now, one.planned_wait)
