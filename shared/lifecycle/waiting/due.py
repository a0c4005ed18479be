"""due: whether a job, as its record or its row says, has waited until its time."""

from __future__ import annotations

from shared.core.job import Job
from shared.core.ledger.records import Active
from shared.core.pacing.waits import WaitKind
from shared.core.ports import Ports


def is_due(ports: Ports, one: Active | Job) -> bool:
    """Whether it is due for its next step, as far as that is a matter of time.

    No job waits for its slot of the hour where the limit on that was switched off meanwhile.
    """
    if one.wait is WaitKind.SLOT and not ports.policy.max_jobs_per_hour:
        return True
    return ports.policy.is_over(one.wait, one.due, ports.clock(), one.planned_wait)
