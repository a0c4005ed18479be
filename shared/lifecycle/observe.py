"""observe: what an engine's report, or its silence, means for one record."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.admission.reason import RECALLED, at_first, waiting, why_queued
from shared.core.cost.usage import seconds_between
from shared.core.engine import Observation, Why
from shared.core.errors import EngineError, NotFound
from shared.core.job import Budget, Job, JobState, Reason, Stored
from shared.core.ledger.entries import Active, Change
from shared.core.ports import Ports
from shared.core.relations.claim import Claim
from shared.core.relations.hold import held_end
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.ends import end_lost, end_with_attempt, with_last_error
from shared.lifecycle.exit_codes import with_meaning
from shared.lifecycle.hold.own_end import with_own_end
from shared.lifecycle.other_code import without_other_code
from shared.lifecycle.retry import free_attempts, not_started, spent_on_another, wait, was_recalled
from shared.lifecycle.transition import allotted, move, note

log = logging.getLogger(__name__)

#: By so much two words about one start may differ: engines round, and ours is later than theirs.
_SAME_START = timedelta(seconds=2)
_PUT_BACK = "the cluster put it back into its queue, and starts it from its beginning"


async def decide(ports: Ports, stored: Stored, observation: Observation | None) -> Change | None:
    """The change that an observation means for a record; None for none."""
    job = stored.job
    if job.state not in (JobState.QUEUED, JobState.RUNNING):
        return None  # it moved on since the index row was read
    if observation is None:
        return await _count_miss(ports, stored)
    if _began_again(job, observation):
        # The start itself is the next look's: each of the two runs has its own states in the record.
        observation = observation._replace(state=JobState.QUEUED, started=None)
    if observation.state is job.state:
        return _unchanged(ports, stored, observation)
    return await follow(ports, stored, observation)


def starts_later(row: Active, observation: Observation) -> bool:
    """Whether a job may have begun again: its cluster names a start after it was known to run."""
    if row.state is not JobState.RUNNING or observation.started is None:
        return False
    # As text, as the column is: what a damaged one holds stops no pass.
    return row.since < observation.started.astimezone(UTC).isoformat(timespec="milliseconds")


def _began_again(job: Job, observation: Observation) -> bool:
    """Whether its cluster put it back into the queue and started it again since the last look."""
    if job.state is not JobState.RUNNING or observation.state is not JobState.RUNNING:
        return False
    before, now = job.started, observation.started
    return before is not None and now is not None and now - before > _SAME_START


def _unchanged(ports: Ports, stored: Stored, observation: Observation) -> Change | None:
    """It is where it was. It may be known again, or wait for something else; nothing is written otherwise."""
    job = stored.job
    changes: dict[str, Any] = {"misses": 0, "missed_at": None} if job.misses else {}
    why = why_queued(observation, cancel=job.cancel)
    waits = waiting(ports, job, why)
    if job.state is JobState.RUNNING and (job.cancel or held_end(job.hold)):
        waits = job.waiting  # it was recorded with the request, or with the hold
    elif why and why.is_brief and job.waiting:
        waits = job.waiting
    if waits != job.waiting:
        changes |= {"waiting": waits}
    if observation.handle and observation.handle != job.handle:  # it was forgotten, and submitted again
        changes |= {"handle": observation.handle}
        changes |= {"segment": observation.segment} if observation.segment else {}
    return note(ports, stored, **changes) if changes else None


async def follow(ports: Ports, stored: Stored, observation: Observation) -> Change:
    """Move the record to the state that the engine reports; after an end, perhaps to another attempt."""
    job = stored.job
    observation = await without_other_code(ports.snapshots, job, observation)
    observation = with_meaning(with_own_end(job, observation))
    spent = spent_on_another(job, observation, ports.policy.free_attempts)
    if spent is not None:
        ended = await with_last_error(ports, job, observation)
        return _another_attempt(ports, stored, ended, spent)
    if observation.state.terminal:
        return await end_with_attempt(ports, stored, observation)
    cancel = job.cancel or held_end(job.hold) is not None  # it has run, and is not to wait in its queue
    return move(
        ports,
        stored,
        observation.state,
        cancel=cancel,
        message=observation.message or (_PUT_BACK if job.state is JobState.RUNNING else ""),
        waiting=waiting(ports, job, at_first(observation, cancel=cancel)),
        handle=observation.handle or job.handle,
        segment=observation.segment or job.segment,
        **_times(observation),
        **allotted(job, observation),
    )


def _another_attempt(ports: Ports, stored: Stored, observation: Observation, budget: Budget) -> Change:
    """Another attempt of the same job, under another engine-side name, after a while."""
    job = stored.job
    attempt = job.attempt + 1
    why = f"attempt {job.attempt} failed: {observation.message or observation.reason}"
    if observation.unstarted:
        why = not_started(job, _cost(job, budget), observation)
        log.warning("%s: %s", job.id, why, extra={"job": job.id})
    due = ports.clock() + timedelta(seconds=wait(attempt, ports.jitter()))
    next_why = _next_attempt(attempt, due, why)
    is_recall = was_recalled(job, observation)
    if is_recall:
        why, due, next_why = f"attempt {job.attempt}: {RECALLED.text}", ports.clock(), RECALLED
    return move(
        ports,
        stored,
        JobState.ACCEPTED,
        reason=observation.reason,
        message=why,
        attempt=attempt,
        spent=budget,
        target=None,
        handle="",
        segment="",
        waiting=waiting(ports, job, next_why),
        claim=_claim_of_next(job.claim, is_recall=is_recall),
        started=None,
        ran_before=job.ran_before + _ran(ports, job, observation),
        due=due,
    )


def _cost(job: Job, budget: Budget) -> str:
    """What an attempt costs that its cluster did not start, in words."""
    free = free_attempts(job)
    if budget != job.spent:
        return f"a retry, since {free} attempts have cost none"
    return f"{free + 1} by now, which cost no retry" if free else "which costs no retry"


def _claim_of_next(claim: Claim | None, *, is_recall: bool) -> Claim | None:
    """What the next attempt has: a lender that needs it no more gets back only what its recall ended."""
    if claim is None or not claim.recalled:
        return claim
    return claim.given_back if is_recall or claim.is_needed_back else claim.without_recall


def give_back(ports: Ports, stored: Stored) -> Change:
    """The change of a recalled job whose attempt its cluster has not taken, and does not have."""
    return _another_attempt(
        ports, stored, Observation(JobState.CANCELLED, Reason.TERMINATED), stored.job.spent
    )


def _ran(ports: Ports, job: Job, observation: Observation) -> float:
    """Seconds that an attempt ran which has ended."""
    started = None if observation.used_nothing else observation.started or job.started
    return seconds_between(started, observation.ended or ports.clock())


def _next_attempt(attempt: int, due: datetime, why: str) -> Why:
    return Why("NewAttempt", f"attempt {attempt} is not before {due.isoformat(timespec='seconds')}: {why}")


def _times(observation: Observation) -> dict[str, datetime | None]:
    """The engine's own time before ours: a pass sees a start late."""
    if observation.state is JobState.QUEUED:
        return {"started": None}  # requeued where it was: what ran before is lost, and no node has it now
    return {"started": observation.started} if observation.started else {}


async def _count_miss(ports: Ports, stored: Stored) -> Change | None:
    """Not in the engine's list. Lost only after repeated, spaced, direct evidence."""
    job, policy, now = stored.job, ports.policy, ports.clock()
    target = job.fixed_target
    try:
        async with calling(ports, target.engine, target.cluster, policy.dispatch_deadline) as engine:
            observation = await engine.see(target)
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
        if held_end(job.hold):
            lost = Observation(JobState.LOST, Reason.INFRASTRUCTURE)
            return await end_with_attempt(ports, stored, with_own_end(job, lost))
        return end_lost(ports, stored, first)
    wait = timedelta(seconds=policy.lost_after / max(1, policy.lost_after_misses - 1))
    waits = job.waiting  # one miss may be a slip, of which no one has to hear
    if misses > 1:
        waits = waiting(ports, job, _why_missing(job, first, policy.lost_after))
    return note(ports, stored, misses=misses, missed_at=first, due=now + wait, waiting=waits)


def _why_missing(job: Job, since: datetime, seconds: float) -> Why:
    """What a job waits for that its cluster does not know, and until when it is looked for."""
    until = since + timedelta(seconds=seconds)
    text = f"{job.cluster} has not known it since {since:%H:%M} UTC; how it ended is looked for until"
    return Why("Missing", f"{text} {until:%H:%M} UTC, and then it is lost")
