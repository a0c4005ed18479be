"""carry_out: passes a cancellation to the engine. The flag on the record stays until the job has ended."""

from __future__ import annotations

import logging

from shared.admission.reason import cancelling
from shared.core.errors import EngineError
from shared.core.job import JobState, Stored
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_at_door
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.ends import end_unsubmitted
from shared.lifecycle.transition import apply, note

log = logging.getLogger(__name__)


async def carry_out(ports: Ports, stored: Stored) -> None:
    """Cancel at the engine now; if that fails, the sweeper repeats it."""
    target = stored.job.target
    if target is None or stored.job.state not in (JobState.QUEUED, JobState.RUNNING):
        return  # the submission is finished first: a late one must not outlive the cancellation
    try:
        async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
            await engine.cancel(target)
    except (EngineError, TimeoutError) as error:
        log.warning(
            "cancel of %s is left to the sweeper: %r", stored.job.id, error, extra={"job": stored.job.id}
        )


async def request_end(ports: Ports, stored: Stored, by: str, request: str = "") -> Stored | None:
    """Request the end of a job; None if its record changed meanwhile (read it again).

    `by`: who asks; `request`: the code of a request for many jobs.
    """
    job = stored.job
    if job.state.terminal or job.cancel:
        return stored
    origin = {"cancelled_by": by, "cancel_request": request}
    if job.state is JobState.ACCEPTED:
        # Nothing was submitted for this attempt, so there is nothing to cancel.
        change = end_unsubmitted(ports, stored, **origin)
    else:
        changes = {"cancel": True, "due": ports.clock(), "waiting": cancelling(ports, job)}
        change = note(ports, stored, **changes, **origin)
    applied = await apply(ports, change)
    if applied is not None:
        await carry_out(ports, applied)
        if change.notice is not None:
            await deliver_at_door(ports, change.notice)
    return applied
