"""own_end: which jobs keep their nodes after a failure, and which end they have then. Pure."""

from __future__ import annotations

from datetime import timedelta

from shared.core.engine import Observation
from shared.core.job import Job, JobState, Reason
from shared.core.relations.hold import held_end

_AT_ONCE = timedelta()


def hold_of(job: Job) -> timedelta:
    """For how long the nodes of its current attempt are kept after a failure of its own: of the last only."""
    if job.hold is None or job.spent.user < job.retry.user:
        return _AT_ONCE
    return job.hold.length


def may_be_held(job: Job) -> bool:
    """Whether its node may be kept without the record saying so."""
    return (
        job.state is JobState.RUNNING and not job.cancel and held_end(job.hold) is None and bool(hold_of(job))
    )


def with_own_end(job: Job, observation: Observation) -> Observation:
    """What an engine reports, where the hold of a job ended: its own end, also after a request or a loss."""
    held = held_end(job.hold)
    is_own = observation.reason in (None, Reason.USER)
    if held is None or not observation.state.terminal or (is_own and not observation.unstarted):
        return observation
    return Observation(
        JobState.FAILED,
        Reason.USER,
        held.message,
        held.exit_code,
        observation.started,
        observation.ended,
        allotted=observation.allotted,
        handle=observation.handle,
        segment=observation.segment,
    )
