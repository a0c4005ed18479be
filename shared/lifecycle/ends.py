"""ends: where a job becomes `succeeded`, `failed`, `cancelled` or `lost`. No other module ends a job.

A job ends because its attempt ended, its cluster refused it or lost it, it was cancelled before that, a job
on which it depends did not end as required, or it was idle for too long.

The line that shows why it failed is read when the end is recorded, without delaying it: lists and events
show it, since they read no file of the job. It costs a read of the ledger and two or three calls to the
engine, for each job that failed by its own fault and gets no other attempt. How long packages took costs two
calls, for each job that installs any.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from shared.core.engine import Observation
from shared.core.errors import Conflict, EngineError, Misconfigured, Rejected, Saturated, SlipwayError
from shared.core.job import Job, JobState, Reason, Stored, plain
from shared.core.ledger.entries import Change
from shared.core.ports import Ports
from shared.core.relations.contents import ErrorLines
from shared.delivery.last_lines import error_line, read_end_soon
from shared.delivery.receipt import LastLines
from shared.lifecycle.packages import seconds_of_packages
from shared.lifecycle.retry import free_attempts, not_started
from shared.lifecycle.transition import allotted, move

#: Failures of the job's own programs, which have written more.
_OWN = (Reason.USER, Reason.PREPARATION)


async def end_with_attempt(ports: Ports, stored: Stored, observation: Observation) -> Change:
    """The end after the last attempt, as the engine reports it."""
    job = stored.job
    observation = _at_whose_request(job, observation)
    return move(
        ports,
        stored,
        observation.state,
        reason=observation.reason,
        message=observation.message,
        exit_code=observation.exit_code,
        **await own_words(ports, job, observation),
        packages=None if observation.unstarted else await seconds_of_packages(ports, job),
        handle=observation.handle or job.handle,
        segment=observation.segment or job.segment,
        **_times(job, observation),
        **allotted(job, observation),
    )


def end_refused(
    ports: Ports, stored: Stored, error: EngineError | TimeoutError, error_text: str
) -> Change | None:
    """The end by a definite refusal of the submission; None for other errors."""
    if isinstance(error, Conflict):
        return move(ports, stored, JobState.FAILED, reason=Reason.INFRASTRUCTURE, message=error_text)
    if isinstance(error, Rejected):
        return move(ports, stored, JobState.FAILED, reason=Reason.UNSUPPORTED, message=error_text)
    if stored.job.cancel and isinstance(error, (Saturated, Misconfigured)):
        text = f"cancelled; the cluster had not taken it: {error_text}"
        return move(ports, stored, JobState.CANCELLED, reason=Reason.TERMINATED, message=text)
    return None


def end_lost(ports: Ports, stored: Stored, since: datetime) -> Change:
    """The end of a job that its engine has not found since then."""
    name = stored.job.fixed_target.name
    text = f"the engine has not known {name} since {since.isoformat()}; how it ended is unknown"
    return move(ports, stored, JobState.LOST, reason=Reason.INFRASTRUCTURE, message=text)


def end_unsubmitted(ports: Ports, stored: Stored, **origin: str) -> Change:
    """The end of a job that was cancelled before this attempt was submitted; `origin`: by whom, just now."""
    text, reason = "cancelled before it was submitted", Reason.TERMINATED
    return move(ports, stored, JobState.CANCELLED, cancel=True, reason=reason, message=text, **origin)


def end_unmet(ports: Ports, stored: Stored, text: str) -> Change:
    """The end of a job whose condition on another job can no longer be met."""
    return move(ports, stored, JobState.CANCELLED, reason=Reason.DEPENDENCY, message=text)


def _at_whose_request(job: Job, observation: Observation) -> Observation:
    """Mark an end that Slipway requested as a cancellation; the message of others names the cluster."""
    if observation.unstarted and job.cancel:
        return observation._replace(state=JobState.CANCELLED, reason=Reason.TERMINATED)
    if observation.unstarted:
        cost = f"{free_attempts(job)} attempts have cost no retry, and none is left"
        return observation._replace(message=not_started(job, cost, observation))
    if observation.state is JobState.CANCELLED and job.idle is not None and job.idle.is_ending:
        warned = job.idle.warned.isoformat(timespec="seconds")
        text = f"ended as idle: {job.idle.clause}, and the warning of {warned} changed nothing"
        return observation._replace(reason=Reason.IDLE, message=text)
    if observation.state is JobState.CANCELLED and not job.cancel:
        text = "cancelled on the cluster and not here: by its administrator, or by hand"
        return observation._replace(
            message=f"{text} ({observation.message})" if observation.message else text
        )
    return observation


def _times(job: Job, observation: Observation) -> dict[str, datetime | None]:
    """The engine's times take precedence: a pass sees a start late, and misses that of a short job."""
    started = None if observation.used_nothing else observation.started or job.started
    if started and observation.ended and started > observation.ended:
        started = observation.ended  # first seen after it was over
    return {"started": started} | ({"ended": observation.ended} if observation.ended else {})


async def with_last_error(ports: Ports, job: Job, observation: Observation) -> Observation:
    """The end of an attempt that is not the last, with that line in its message: it has no other place."""
    last = await _last_lines_of(ports, job, observation)
    if last is None or not (error := error_line(last)):
        return observation
    return observation._replace(message=f"{observation.message}: {error}".removeprefix(": "))


async def own_words(ports: Ports, job: Job, observation: Observation) -> dict[str, Any]:
    """The changes that keep the last lines of its standard error. Never raises."""
    last = await _last_lines_of(ports, job, observation)
    if last is None:
        return {}
    lines = tuple(map(plain, last.lines))
    recorded = ErrorLines(file=last.file, offset=last.offset, lines=lines)
    return {"last_error": error_line(last), "error_lines": recorded}


async def _last_lines_of(ports: Ports, job: Job, observation: Observation) -> LastLines | None:
    """The last lines, without secrets; None if there are none in time. Never raises."""
    if observation.reason not in _OWN:
        return None
    target = job.fixed_target
    try:
        document = await ports.ledger.spec(job.id)
    except SlipwayError:
        return None
    # After repeated failures, no job of the cluster waits for its line for a while.
    patience = ports.policy.last_error_patience
    return await read_end_soon(ports, job, target, document, patience, observation.reason)
