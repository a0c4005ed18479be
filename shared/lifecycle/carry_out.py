"""carry_out: a cancellation is a flag on the record; the engine is asked until it has ended the job."""

from __future__ import annotations

import logging

from shared.core.errors import EngineError
from shared.core.job import JobState, Stored
from shared.core.ports import Ports
from shared.lifecycle.calling import calling

log = logging.getLogger(__name__)


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
