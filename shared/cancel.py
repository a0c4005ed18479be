"""cancel: a flag on the record, carried to the engine until it has ended the job."""

from __future__ import annotations

import logging

from shared.advance import apply, move, note
from shared.caller import KEY_HOLDER, Caller
from shared.calling import calling
from shared.deliver import deliver_at_door
from shared.errors import EngineError, Misuse, Unavailable
from shared.job import JobState, Reason, Stored
from shared.ports import Ports
from shared.read import visible

log = logging.getLogger(__name__)


async def cancel(ports: Ports, job_id: str, who: Caller = KEY_HOLDER) -> Stored:
    """Ask for the end of a job; one that ended stays as it is. Raises Misuse (404, 403)."""
    for _ in range(5):
        stored = await visible(ports, job_id, who)
        if stored is None:
            raise Misuse(f"there is no job {job_id[:80]}", status=404, remedy="list the jobs: GET /api/jobs")
        who.may_change(stored.job)
        if stored.job.state.terminal or stored.job.cancel:
            return stored
        if stored.job.state is JobState.ACCEPTED:
            # Nothing was ever submitted for this attempt, so there is nothing to end.
            change = move(
                ports,
                stored,
                JobState.CANCELLED,
                cancel=True,
                reason=Reason.TERMINATED,
                message="cancelled before it was submitted",
            )
        else:
            change = note(ports, stored, cancel=True, due=ports.clock())
        applied = await apply(ports, change)
        if applied is not None:
            await carry_out(ports, applied)
            if change.notice is not None:
                await deliver_at_door(ports, change.notice)
            return applied
    raise Unavailable(f"job {job_id} changes too quickly; ask again")


async def carry_out(ports: Ports, stored: Stored) -> None:
    """Tell the engine at once; when that fails, the sweep repeats it."""
    target = stored.job.target
    if target is None or stored.job.state not in (JobState.QUEUED, JobState.RUNNING):
        return  # while submitting, the submission is finished first: a late one must not outlive the cancel
    try:
        async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
            await engine.cancel(target)
    except (EngineError, TimeoutError) as error:
        log.warning(
            "cancel of %s is left to the sweep: %r", stored.job.id, error, extra={"job": stored.job.id}
        )
