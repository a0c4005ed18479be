"""dispatch: one submission of one attempt, repeatable with the same name until the engine has answered.

The engine-side name and token are in the record before the engine is called, so whoever repeats this after a
crash asks for the same thing again, and the engine recognises it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.admit import paused
from shared.advance import apply, move, note
from shared.answers import put_status
from shared.backoff import full_jitter
from shared.calling import calling
from shared.cancel import carry_out
from shared.conceal import without_secrets
from shared.deliver import deliver_at_door
from shared.errors import (
    Conflict,
    EngineError,
    LeftAlone,
    Misconfigured,
    NotFound,
    Rejected,
    Saturated,
    SlipwayError,
    Transient,
)
from shared.identity import intent
from shared.job import Job, JobState, Reason, Stored
from shared.meter import timed
from shared.observe import follow
from shared.ports import Change, Observation, Order, Ports
from shared.spec import JsonObject, open_secrets, with_credentials

log = logging.getLogger(__name__)

#: Longer than any function or retry lives that might still submit.
_ZOMBIE = timedelta(hours=1)


async def dispatch(ports: Ports, job_id: str) -> Stored | None:
    """Submit a job that is accepted or submitting; anything else is left as it is."""
    stored = await ports.ledger.get(job_id)
    if stored is None:
        return None
    if stored.job.state is JobState.ACCEPTED:
        changes = await _start_attempt(ports, stored)
        if changes is None:
            return None
        stored = changes
    if stored.job.state is JobState.SUBMITTING:
        return await (look_for(ports, stored) if await paused(ports) else submit(ports, stored))
    return stored


@timed("slipway.submit")
async def submit(ports: Ports, stored: Stored, accepted: JsonObject | None = None) -> Stored:
    """Call the engine once, within the deadline, and record what it said. Engine errors never leave here.

    `accepted` is the document as it was recorded; it is read when whoever calls does not have it.
    """
    job = stored.job
    assert job.target is not None
    spec = None
    try:
        spec = accepted or await _spec(ports, job)
        order = Order(job.target, _document(ports, job, spec))
        async with calling(
            ports, job.target.engine, job.target.cluster, ports.policy.dispatch_deadline
        ) as engine:
            seen = await engine.submit(order)
    except LeftAlone:
        return stored  # nothing was asked and nothing is known: the sweep comes back to it
    except (EngineError, TimeoutError) as error:
        said = without_secrets(ports, job, spec, str(error))
        change = await _not_taken(ports, stored, error, said)
    else:
        change = _taken(ports, stored, seen)
    return await _commit(ports, stored, change)


async def look_for(ports: Ports, stored: Stored) -> Stored:
    """Whether a submission landed of which no answer came, without repeating it: submissions are paused."""
    seen = await _landed(ports, stored.job)
    return await _commit(ports, stored, _taken(ports, stored, seen)) if seen else stored


async def _commit(ports: Ports, stored: Stored, change: Change) -> Stored:
    job = stored.job
    applied = await apply(ports, change)
    ports.meter.note(job=job.id)
    if applied is None:
        return stored
    if applied.job.state is JobState.QUEUED:
        ports.meter.add("slipway.jobs.submitted", cluster=job.cluster)
    if applied.job.state is not job.state:
        await put_status(ports, applied.job)
    if applied.job.cancel:
        await carry_out(ports, applied)
    if change.notice is not None:
        await deliver_at_door(ports, change.notice)
    return applied


def _taken(ports: Ports, stored: Stored, seen: Observation | None) -> Change:
    return follow(ports, stored, seen or Observation(JobState.QUEUED), due=ports.clock())


async def _not_taken(ports: Ports, stored: Stored, error: EngineError | TimeoutError, said: str) -> Change:
    """What a try without success means. No end is written while a try, also a lost one, may have landed."""
    job = stored.job
    end = _end(job, error, said)
    if end is None:
        return note(ports, stored, **_later(ports, job, error, said))
    if not isinstance(error, Conflict):  # of a name that belongs to another job nothing can have landed
        try:
            if seen := await _landed(ports, job):
                return _taken(ports, stored, seen)
        except (EngineError, TimeoutError) as unknown:
            return note(ports, stored, **_later(ports, job, unknown, _kind(unknown)))
        if job.unknown_since is not None and ports.clock() - job.unknown_since <= _ZOMBIE:
            return note(ports, stored, **_later(ports, job, error, said))
    return move(ports, stored, **end)


def _end(job: Job, error: EngineError | TimeoutError, said: str) -> dict[str, Any] | None:
    """The end that a definite refusal is, None for any other error."""
    if isinstance(error, Conflict):
        return {"to": JobState.FAILED, "reason": Reason.INFRASTRUCTURE, "message": said}
    if isinstance(error, Rejected):
        return {"to": JobState.FAILED, "reason": Reason.UNSUPPORTED, "message": said}
    if job.cancel and isinstance(error, (Saturated, Misconfigured)):
        text = f"cancelled; the cluster had not taken it: {said}"
        return {"to": JobState.CANCELLED, "reason": Reason.TERMINATED, "message": text}
    return None


async def _landed(ports: Ports, job: Job) -> Observation | None:
    """What the engine knows of the attempt, None when it knows nothing. Raises EngineError, TimeoutError."""
    assert job.target is not None
    place = (job.target.engine, job.target.cluster)
    try:
        async with calling(ports, *place, ports.policy.dispatch_deadline) as engine:
            return await engine.see(job.target)
    except NotFound:
        return None


async def submit_again(ports: Ports, job: Job) -> None:
    """Give a job that its engine does not know any more to it once more, if it is one that forgets.

    By the same name and token, which keep the job from running twice. Engine errors stay here.
    """
    assert job.target is not None
    engine = ports.engines.of(job.target.engine)
    if job.cancel or engine.capabilities["durable"].answer == "yes":
        return
    deadline = ports.policy.dispatch_deadline
    try:
        order = Order(job.target, _document(ports, job, await _spec(ports, job)))
        async with calling(ports, job.target.engine, job.target.cluster, deadline) as engine:
            await engine.submit(order)
    except (EngineError, TimeoutError) as error:
        log.warning("%s could not be submitted again: %s", job.id, _kind(error), extra={"job": job.id})
    else:
        log.warning("%s was forgotten, and submitted again", job.id, extra={"job": job.id})


async def _start_attempt(ports: Ports, stored: Stored) -> Stored | None:
    job = stored.job
    cluster = ports.engines.clusters.get(job.cluster)
    if cluster is None:
        text = f"cluster {job.cluster} is no longer configured"
        return await apply(
            ports, move(ports, stored, JobState.FAILED, reason=Reason.INFRASTRUCTURE, message=text)
        )
    lease = timedelta(seconds=ports.policy.submit_lease)
    fixed = intent(job, engine=cluster.engine, now=ports.clock(), lease=lease)
    return await apply(ports, move(ports, stored, JobState.SUBMITTING, **fixed))


async def _spec(ports: Ports, job: Job) -> JsonObject:
    spec = await ports.ledger.spec(job.id)
    if spec is None:
        raise Misconfigured(f"the spec of {job.id} is missing from the ledger")
    return spec


def _document(ports: Ports, job: Job, spec: JsonObject) -> dict[str, Any]:
    """The document as the engine needs it: secrets opened, credentials filled in, our own variables added."""
    opened = open_secrets(spec, lambda at, value: ports.seal.unseal(value, f"{job.key}{at}"))
    return with_ours(with_credentials(opened, ports.account_keys), job)


def with_ours(document: Mapping[str, Any], job: Job) -> dict[str, Any]:
    """The document for the engine, with the variables by which a job and its attempt are recognised."""
    assert job.target is not None
    ours = {"SLIPWAY_JOB_ID": job.id, "SLIPWAY_ATTEMPT": str(job.attempt), "SLIPWAY_TOKEN": job.target.token}
    properties = dict(document["properties"])
    theirs = [v for v in properties.get("environmentVariables") or [] if v.get("name") not in ours]
    properties["environmentVariables"] = [*theirs, *({"name": n, "value": v} for n, v in ours.items())]
    return {"properties": properties}


def _later(ports: Ports, job: Job, error: SlipwayError | TimeoutError, said: str) -> dict[str, Any]:
    """When to try again, and what to tell whoever looks meanwhile."""
    now = ports.clock()
    if isinstance(error, Misconfigured):
        log.error("parked %s: %s", job.id, said, extra={"job": job.id, "action": "parked"})
        wait, text = 300.0, f"waits for the deployment to be mended: {said}"
    elif isinstance(error, Saturated):
        wait, text = 300.0, f"waits for capacity: {said}"
    elif isinstance(error, Rejected):
        wait, text = 300.0, f"refused, and an earlier try without an answer may still land: {said}"
    else:
        tries = sum(1 for entry in job.history if entry.state is JobState.SUBMITTING)
        wait = max(1.0, full_jitter(tries, 2.0, 600.0, ports.jitter()))
        why = "no answer in time" if isinstance(error, TimeoutError) else said[:200]
        text = f"the engine did not answer ({why}); it is asked again with the same name"
    since = job.unknown_since or (now if isinstance(error, (Transient, TimeoutError)) else None)
    return {"due": now + timedelta(seconds=wait), "message": text, "unknown_since": since}


def _kind(error: BaseException) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else str(error)[:200]
