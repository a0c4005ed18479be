"""dispatch: one submission of one attempt, repeatable with the same name until the engine has answered.

The name on the cluster and the token are in the record before the engine is called, so a repetition after a
crash sends the same request again, and the engine recognises it.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from shared.admission.pauses import paused
from shared.admission.permit import Permit
from shared.core.engine import Observation, Order
from shared.core.errors import (
    Conflict,
    EngineError,
    LeftAlone,
    Misconfigured,
    NotFound,
    Saturated,
    Unreadable,
)
from shared.core.identity import intent
from shared.core.job import Job, JobState, Stored
from shared.core.ledger.entries import Change
from shared.core.ledger.ledger import Ledger
from shared.core.meter import timed
from shared.core.ports import Ports
from shared.delivery.deliver import deliver_at_door
from shared.delivery.receipt_files import put_news
from shared.jobspec import JsonObject
from shared.lifecycle.carry_out import carry_out
from shared.lifecycle.clusters.calling import calling
from shared.lifecycle.ends import end_refused
from shared.lifecycle.observe import follow, give_back
from shared.lifecycle.orders.order import order_of
from shared.lifecycle.transition import apply, move, note
from shared.lifecycle.waiting.postponement import postponed, shown_error

log = logging.getLogger(__name__)
#: Longer than any function or retry that might still submit can live.
_ZOMBIE = timedelta(hours=1)
#: For how long a node may fetch the code of an attempt that waits in its cluster's own queue.
_CODE_READABLE = timedelta(days=60)


async def dispatch(ports: Ports, permit: Permit) -> Stored | None:
    """Begin an attempt of a job, and submit it.

    Returns the new record; None if another process changed it meanwhile, or there is nothing to submit to.
    """
    stored = await _start_attempt(ports, permit.stored)
    return await submit(ports, stored) if stored is not None else None


async def repeat(ports: Ports, job_id: str) -> None:
    """Submit a job once more whose attempt has begun, with the same name. Other jobs are left alone.

    While submissions are paused, it is only checked whether the first one succeeded.
    """
    stored = await ports.ledger.get(job_id)
    if stored is not None and stored.job.state is JobState.SUBMITTING:
        await (_look_for(ports, stored) if await paused(ports) else submit(ports, stored))


@timed("slipway.submit")
async def submit(ports: Ports, stored: Stored, accepted: JsonObject | None = None) -> Stored:
    """Call the engine once, within the deadline, and record its answer. Never raises engine errors.

    `accepted`: the document as recorded; it is read if the caller does not have it.
    """
    job, target = stored.job, stored.job.fixed_target
    spec: JsonObject | None = None
    order: Order | None = None
    try:
        spec = accepted or await _spec(ports.ledger, job)
        order = await order_of(ports, job, spec)
        async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
            observation = await engine.submit(order)
    except LeftAlone:
        return stored  # no call was made, so nothing is known: the sweeper tries again
    except (EngineError, TimeoutError) as error:
        change = await _not_taken(
            ports, stored, error, shown_error(ports, job, spec if order else None, error)
        )
    else:
        change = await _adopt(ports, stored, observation)
    return await _commit(ports, stored, change, spec)


async def _look_for(ports: Ports, stored: Stored) -> Stored:
    """Check whether an unanswered submission succeeded, without repeating it: submissions are paused."""
    observation = await _landed(ports, stored.job)
    return await _commit(ports, stored, await _adopt(ports, stored, observation)) if observation else stored


async def _commit(ports: Ports, stored: Stored, change: Change, spec: JsonObject | None = None) -> Stored:
    job = stored.job
    applied = await apply(ports, change)
    ports.meter.annotate(job=job.id)
    if applied is None:
        return stored
    if applied.job.state is JobState.QUEUED:
        ports.meter.add("slipway.jobs.submitted", cluster=job.cluster)
    if applied.job.state is not job.state:
        ports.troubles.resolve("job", job.id)
    if applied.job.line.sequence != job.line.sequence:
        await put_news(ports, applied.job, spec)
    if applied.job.cancel or applied.job.is_needed_back:
        await carry_out(ports, applied)
    if change.notice is not None:
        await deliver_at_door(ports, change.notice)
    return applied


async def _adopt(ports: Ports, stored: Stored, observation: Observation | None) -> Change:
    return await follow(ports, stored, observation or Observation(JobState.QUEUED))


async def _not_taken(
    ports: Ports, stored: Stored, error: EngineError | TimeoutError, error_text: str
) -> Change:
    """The consequence of a failed submission. No end is recorded while some submission may have succeeded."""
    job = stored.job
    end = end_refused(ports, stored, error, error_text) or _given_back(ports, stored, error)
    if end is None:
        return note(ports, stored, **postponed(ports, job, error, error_text))
    if not isinstance(error, Conflict):  # a name of another job cannot be from our submission
        try:
            if observation := await _landed(ports, job):
                return await _adopt(ports, stored, observation)
        except (EngineError, TimeoutError) as unknown:
            return note(ports, stored, **postponed(ports, job, unknown, str(unknown)))
        if job.unknown_since is not None and ports.clock() - job.unknown_since <= _ZOMBIE:
            return note(ports, stored, **postponed(ports, job, error, error_text))
    return end


def _given_back(ports: Ports, stored: Stored, error: EngineError | TimeoutError) -> Change | None:
    """What its cluster does not take for now gives a claim back that a lender needs; None for others."""
    job = stored.job
    if not job.is_needed_back or not isinstance(error, (Saturated, Misconfigured)):
        return None
    return give_back(ports, stored)


async def _landed(ports: Ports, job: Job) -> Observation | None:
    """The engine's observation of the attempt, None if it has none. Raises EngineError, TimeoutError."""
    target = job.fixed_target
    try:
        async with calling(ports, target.engine, target.cluster, ports.policy.dispatch_deadline) as engine:
            return await engine.see(target)
    except NotFound:
        return None


async def submit_again(ports: Ports, job: Job) -> None:
    """Submit a job again that its engine has forgotten, if the engine may forget jobs.

    It has the same name and token, so it never runs twice. Engine errors are caught here.
    """
    target = job.fixed_target
    if job.cancel:
        return
    deadline = ports.policy.dispatch_deadline
    spec: JsonObject | None = None
    order: Order | None = None
    try:
        durable = ports.engines.get(target.engine).capabilities(target.cluster)["durable"]
        if durable.answer == "yes":
            return
        spec = await _spec(ports.ledger, job)
        order = await order_of(ports, job, spec)
        async with calling(ports, target.engine, target.cluster, deadline) as engine:
            await engine.submit(order)
    except (EngineError, TimeoutError) as error:
        why = shown_error(ports, job, spec if order else None, error) or "no answer in time"
        log.warning("%s could not be submitted again: %s", job.id, why, extra={"job": job.id})
    else:
        log.warning("%s was forgotten, and submitted again", job.id, extra={"job": job.id})


async def _start_attempt(ports: Ports, stored: Stored) -> Stored | None:
    job = stored.job
    cluster = ports.engines.clusters.get(job.cluster)
    if cluster is None:
        error = Misconfigured(f"cluster {job.cluster} is not configured")
        await apply(ports, note(ports, stored, **postponed(ports, job, error, str(error))))
        return None
    lease = timedelta(seconds=ports.policy.submit_lease)
    fixed = intent(job, engine=cluster.engine, now=ports.clock(), lease=lease)
    return await apply(ports, move(ports, stored, JobState.SUBMITTING, **fixed))


async def _spec(ledger: Ledger, job: Job) -> JsonObject:
    try:
        spec = await ledger.spec(job.id)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    if spec is None:
        raise Misconfigured(f"the spec of {job.id} is missing from the ledger")
    return spec
