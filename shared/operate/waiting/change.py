"""change: one change of a job that waits in the ledger, made on the version that was judged.

An attempt begins by a write on such a version, too. So either the change is in the record before the attempt
begins, and counts for it, or the attempt has begun and the change is refused; nothing is between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from shared.core.caller import Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Change
from shared.core.ports import Ports
from shared.delivery.receipt_files import put_news
from shared.lifecycle.lookup import changeable
from shared.lifecycle.transition import apply

#: The change of a record; None where it is already as the caller wants it.
Decision: TypeAlias = Callable[[Stored], Awaitable[Change | None]]


async def change_waiting(ports: Ports, job_id: str, who: Caller, decide: Decision) -> Stored:
    """Change a job that the caller may change. Raises Misuse (404, 403, 409), and Unavailable."""
    for _ in range(5):
        stored = await changeable(ports, job_id, who)
        if (change := await decide(stored)) is None:
            return stored
        if (result := await apply(ports, change)) is not None:
            await put_news(ports, result.job)
            return result
    raise Unavailable(f"job {job_id} changes too quickly; ask again")


def check_waiting(job: Job, act: str) -> None:
    """Raise Misuse (409) for a job that does not wait in the ledger, where alone this can be done to it."""
    if job.state is JobState.ACCEPTED:
        return
    if job.state.terminal:
        why, remedy = "it has ended", f"run it again: slipway rerun {job.id}"
    elif job.state is JobState.RUNNING:
        why, remedy = "it runs", f"let it end, or cancel it: slipway cancel {job.id}"
    else:
        why = f"it was submitted to the cluster {job.fixed_target.cluster}"
        remedy = f"cancel it and run it again: slipway cancel {job.id}, then slipway rerun {job.id}"
    text = f"{job.id} cannot be {act}: {why}, and only a job that no cluster has yet can"
    raise Misuse(text, status=409, remedy=remedy)
