"""cancel: a flag on the record; the sweep carries it to the engine until the job has ended."""

from __future__ import annotations

import logging

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import JobState, Stored
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_at_door
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.ends import end_unsubmitted
from shared.lifecycle.lookup import visible
from shared.lifecycle.transition import apply, note
from shared.lifecycle.waiting import cancelling

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
            change = end_unsubmitted(ports, stored)
        else:
            waits = cancelling(ports, stored.job)
            change = note(ports, stored, cancel=True, due=ports.clock(), waiting=waits)
        applied = await apply(ports, change)
        if applied is not None:
            await carry_out(ports, applied)
            if change.notice is not None:
                await deliver_at_door(ports, change.notice)
            return applied
    raise Unavailable(f"job {job_id} changes too quickly; ask again")
