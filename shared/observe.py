"""observe: what an engine's word, or its silence, means for one record."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from shared.advance import move, note
from shared.calling import calling
from shared.errors import EngineError, NotFound
from shared.job import Budget, Job, JobState, Reason, Stored
from shared.ports import Change, Observation, Ports
from shared.retry import spent_on_another, wait


async def decide(ports: Ports, stored: Stored, observation: Observation | None) -> Change | None:
    """The change that an observation means for a record; None for none."""
    job = stored.job
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        return None  # it moved on since the index row was read
    if observation is None:
        return await _missing(ports, stored)
    if observation.state is job.state:
        return note(ports, stored, misses=0, missed_at=None) if job.misses else None
    return follow(ports, stored, observation)


def follow(ports: Ports, stored: Stored, observation: Observation, **changes: Any) -> Change:
    """The record goes where the engine says that its attempt is; after an end perhaps to another attempt."""
    job = stored.job
    spent = spent_on_another(job, observation.state, observation.reason)
    if spent is not None:
        return _again(ports, stored, observation, spent)
    return move(
        ports,
        stored,
        observation.state,
        reason=observation.reason,
        message=observation.message,
        exit_code=observation.exit_code,
        misses=0,
        missed_at=None,
        **_times(job, observation),
        **changes,
    )


def _again(ports: Ports, stored: Stored, observation: Observation, spent: Budget) -> Change:
    """Another attempt of the same job, under another engine-side name, after a while."""
    attempt = stored.job.attempt + 1
    why = f"attempt {stored.job.attempt} failed: {observation.message or observation.reason}"
    due = ports.clock() + timedelta(seconds=wait(attempt, ports.jitter()))
    return move(
        ports,
        stored,
        JobState.ACCEPTED,
        reason=observation.reason,
        message=why,
        attempt=attempt,
        spent=spent,
        target=None,
        started=None,
        missed_at=None,
        due=due,
    )


def _times(job: Job, observation: Observation) -> dict[str, datetime | None]:
    times: dict[str, datetime | None] = {}
    if observation.state is JobState.QUEUED:
        times["started"] = None  # requeued where it was: what ran before is lost, and no node has it now
    elif observation.started and (job.started is None or observation.started > job.started):
        times["started"] = observation.started
    if observation.ended and observation.state.terminal:
        times["ended"] = observation.ended
    return times


async def _missing(ports: Ports, stored: Stored) -> Change | None:
    """Not in the engine's list. Lost only after repeated, spaced, direct evidence."""
    job, policy, now = stored.job, ports.policy, ports.clock()
    assert job.target is not None
    try:
        async with calling(ports, job.target.engine, job.target.cluster, policy.dispatch_deadline) as engine:
            observation = await engine.see(job.target)
    except NotFound:
        pass
    except (EngineError, TimeoutError):
        return None
    else:
        return await decide(ports, stored, observation)
    # A clock that went back starts the evidence anew.
    first = job.missed_at if job.missed_at is not None and job.missed_at <= now else now
    misses = job.misses + 1
    if misses >= policy.lost_after_misses and (now - first).total_seconds() >= policy.lost_after:
        text = (
            f"the engine has not known {job.target.name} since {first.isoformat()}; how it ended is unknown"
        )
        return move(ports, stored, JobState.LOST, reason=Reason.INFRASTRUCTURE, message=text)
    wait = timedelta(seconds=policy.lost_after / max(1, policy.lost_after_misses - 1))
    return note(ports, stored, misses=misses, missed_at=first, due=now + wait)
