"""dispatch: one submission of one attempt, repeatable with the same name until the engine has answered.

The engine-side name and token are in the record before the engine is called, so whoever repeats this after a
crash asks for the same thing again, and the engine recognises it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.advance import apply, move, note
from shared.answers import put_status
from shared.backoff import full_jitter
from shared.calling import calling
from shared.deliver import deliver_at_door
from shared.errors import (
    Conflict,
    EngineError,
    LeftAlone,
    Misconfigured,
    Rejected,
    Saturated,
    SlipwayError,
    Transient,
)
from shared.job import Job, JobState, Reason, Stored, intent
from shared.meter import timed
from shared.observe import follow
from shared.ports import Observation, Order, Ports
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
        return await submit(ports, stored)
    return stored


@timed("slipway.submit")
async def submit(ports: Ports, stored: Stored, accepted: JsonObject | None = None) -> Stored:
    """Call the engine once, within the deadline, and record what it said. Engine errors never leave here.

    `accepted` is the document as it was recorded; it is read when whoever calls does not have it.
    """
    job = stored.job
    assert job.target is not None
    try:
        order = Order(job.target, await _document(ports, job, accepted))
        async with calling(
            ports, job.target.engine, job.target.cluster, ports.policy.dispatch_deadline
        ) as engine:
            seen = await engine.submit(order)
    except LeftAlone:
        return stored  # nothing was asked and nothing is known: the sweep comes back to it
    except (Rejected, Conflict) as error:
        reason = Reason.INFRASTRUCTURE if isinstance(error, Conflict) else Reason.UNSUPPORTED
        change = move(ports, stored, JobState.FAILED, reason=reason, message=str(error))
    except (EngineError, TimeoutError) as error:
        if job.cancel and _never_taken(ports, job, error):
            text = f"cancelled; the cluster had not taken it: {error}"
            change = move(ports, stored, JobState.CANCELLED, reason=Reason.TERMINATED, message=text)
        else:
            change = note(ports, stored, **_later(ports, job, error))
    else:
        change = follow(ports, stored, seen or Observation(JobState.QUEUED), due=ports.clock())
    applied = await apply(ports, change)
    ports.meter.note(job=job.id)
    if applied is not None and applied.job.state is JobState.QUEUED:
        ports.meter.add("slipway.jobs.submitted", cluster=job.cluster)
    if applied is None:
        return stored
    if applied.job.state is not job.state:
        await put_status(ports, applied.job)
    if change.notice is not None:
        await deliver_at_door(ports, change.notice)
    return applied


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
        order = Order(job.target, await _document(ports, job, None))
        async with calling(ports, job.target.engine, job.target.cluster, deadline) as engine:
            await engine.submit(order)
    except (EngineError, TimeoutError) as error:
        log.warning("%s could not be submitted again: %s", job.id, _kind(error), extra={"job": job.id})
    else:
        log.warning("%s was forgotten, and submitted again", job.id, extra={"job": job.id})


def _never_taken(ports: Ports, job: Job, error: BaseException) -> bool:
    """Whether a refusal is definite and no earlier try can still land: then a cancel may end it here."""
    if not isinstance(error, (Saturated, Misconfigured)):
        return False
    return job.unknown_since is None or ports.clock() - job.unknown_since > _ZOMBIE


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


async def _document(ports: Ports, job: Job, accepted: JsonObject | None) -> dict[str, Any]:
    """The document as the engine needs it: secrets opened, credentials filled in, our own variables added."""
    assert job.target is not None
    spec = accepted or await ports.ledger.spec(job.id)
    if spec is None:
        raise Misconfigured(f"the spec of {job.id} is missing from the ledger")
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


def _later(ports: Ports, job: Job, error: SlipwayError | TimeoutError) -> dict[str, Any]:
    """When to try again, and what to tell whoever looks meanwhile."""
    now = ports.clock()
    if isinstance(error, Misconfigured):
        log.error("parked %s: %s", job.id, error, extra={"job": job.id, "action": "parked"})
        wait, text = 300.0, f"waits for the deployment to be mended: {error}"
    elif isinstance(error, Saturated):
        wait, text = 300.0, f"waits for capacity: {error}"
    else:
        tries = sum(1 for entry in job.history if entry.state is JobState.SUBMITTING)
        wait = max(1.0, full_jitter(tries, 2.0, 600.0, ports.jitter()))
        text = f"the engine did not answer ({_kind(error)}); it is asked again with the same name"
    since = job.unknown_since or (now if isinstance(error, (Transient, TimeoutError)) else None)
    return {"due": now + timedelta(seconds=wait), "message": text, "unknown_since": since}


def _kind(error: BaseException) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else str(error)[:200]
