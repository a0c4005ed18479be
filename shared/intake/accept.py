"""accept: the one use case behind every door. Record first, then submit, acknowledge last.

Bad input does not fail the function: it becomes a `rejected` record with a receipt. Once the record exists,
no error may fail the function.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from shared.admission.door import admit, admit_next
from shared.admission.gates import SLOT, Wait, reason
from shared.admission.permit import Permit
from shared.admission.sentences import hourly_limit
from shared.core.errors import Exists, Misuse, SlipwayError, Unavailable, quoted
from shared.core.job import Job, JobState, Stored
from shared.core.job_sweeps.record import sweep_id
from shared.core.ledger.job_sweeps import JobSweeps
from shared.core.meter import timed
from shared.core.notify.events import Notice, notice_of
from shared.core.ports import Ports
from shared.core.refusals import KeyTaken, key_claimed, key_taken
from shared.core.relations.claim import Claim
from shared.delivery.deliver import deliver_at_door
from shared.delivery.receipt_files import put_accepted
from shared.intake.candidate import ANSWERED, Candidate, Place
from shared.intake.desk.draft import Draft, draft_of
from shared.intake.first_record import begun, first_record, held
from shared.intake.generations import KeyHolder, next_place, runs_again
from shared.intake.kept_code import keep_code
from shared.jobspec import JsonObject
from shared.lifecycle.dispatch import dispatch, submit
from shared.lifecycle.teams.claims import claim_at_door, release_claims
from shared.lifecycle.waiting.dependents import look_again
from shared.lifecycle.waiting.lines import note_wait

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Accepted:
    """The outcome of a candidate. `created` is False for a duplicate, which joined the existing job."""

    job: Job
    created: bool
    notes: tuple[str, ...] = ()


async def accept(ports: Ports, candidate: Candidate) -> Accepted:
    """Record the job, or its rejection, and try one submission within the deadline.

    Raises Misuse when the key belongs to another payload, Unavailable when storage does not answer.
    """
    return await record(ports, await draft_of(ports, candidate))


@timed("slipway.accept")
async def record(ports: Ports, draft: Draft) -> Accepted:
    """The same for a draft."""
    candidate, prepared = draft.candidate, draft.prepared
    place = candidate.place
    if prepared.valid:
        await keep_code(ports.snapshots, candidate)
    while True:
        job = first_record(ports, draft, place)
        if prepared.valid:
            job = await _judged(ports, job, draft)
        notice = _first_notice(ports, job)
        try:
            # A rejected document is not kept; its text is, without the values of unknown members.
            stored = await ports.ledger.create(job, prepared.document if prepared.valid else None, notice)
        except Exists:
            existing, place = await _holder(ports, candidate, job, place)
            if existing is None:
                continue
            return _joined(ports, candidate, existing.job)
        break
    ports.meter.add("slipway.jobs.accepted", door=candidate.door, state=stored.job.state.value)
    ports.meter.annotate(job=stored.job.id)
    log.info("%s by %s: %s", stored.job.state.value, job.door, job.id, extra={"job": job.id})
    after = await _follow_up(ports, stored, prepared.document, notice)
    return Accepted(after, created=True, notes=prepared.notes + _stuck_notes(after))


async def job_to_join(ports: Ports, candidate: Candidate) -> Accepted | None:
    """The job that a repeated request joins; None for a new one. Raises Misuse for another payload's key."""
    place = candidate.place
    existing = await ports.ledger.get(place.id)
    if existing is not None and runs_again(existing, candidate):
        existing = (await next_place(ports, candidate, place, valid=True)).stored
    return None if existing is None else _joined(ports, candidate, existing.job)


def _joined(ports: Ports, candidate: Candidate, job: Job) -> Accepted:
    ports.meter.add("slipway.duplicates.prevented", door=candidate.door)
    log.info("duplicate joined %s", job.id, extra={"job": job.id, "action": "joined"})
    return Accepted(job, created=False)


async def _holder(ports: Ports, candidate: Candidate, job: Job, place: Place) -> KeyHolder:
    """What the candidate joins, or another place for its record, as there is something at its own."""
    existing = await ports.ledger.get(job.id)
    if existing is None:
        await _check_claim(ports.job_sweeps, job)
    elif not runs_again(existing, candidate):
        return KeyHolder(existing, place)
    return await next_place(ports, candidate, place, valid=job.state is not JobState.REJECTED)


async def _check_claim(job_sweeps: JobSweeps, job: Job) -> None:
    """Raise KeyTaken if a sweep has claimed the id. A rejected job holds no key and gets another id."""
    sweep = await job_sweeps.claimant(job.id)
    if sweep is None:
        raise Unavailable(f"record {job.id} exists and cannot be read")
    if job.state is not JobState.REJECTED:
        raise key_claimed(f"the sweep {sweep}")


def _stuck_notes(job: Job) -> tuple[str, ...]:
    """The cluster's report that the job waits for something that will not happen by itself."""
    waits = job.waiting
    return (f"warning: {waits.text}",) if waits is not None and waits.never else ()


async def _judged(ports: Ports, job: Job, draft: Draft) -> Job:
    """The first record as the gates have it: submitted at once, or with the reason why it waits."""
    quota = draft.candidate.request.share.quota
    answered = job.door in ANSWERED and job.sweep is None
    entry = await admit(ports, job, quota, waits=not answered)
    if entry.exceeds_rate and answered:
        await _refuse(ports, entry.job)
    why = reason(entry.job, entry.world)
    return held(entry.job, why) if why is not None else begun(ports.policy, entry.job, draft.prepared.cluster)


async def _refuse(ports: Ports, job: Job) -> None:
    """Raise if a limit is exceeded: a caller waits for the answer, so the job is not recorded.

    A duplicate joins as usual.
    """
    if await ports.ledger.get(job.id) is None:
        seconds = max(1.0, (job.due - ports.clock()).total_seconds())
        raise Misuse(
            hourly_limit(ports.policy).text.removeprefix("waits: "),
            status=429,
            remedy="send it again after Retry-After, or put it on the queue, where it waits",
            retry_after=seconds,
        )


async def _follow_up(ports: Ports, stored: Stored, document: JsonObject | None, notice: Notice | None) -> Job:
    """The steps after the record. Errors are logged, never raised: the ledger owns the job now."""
    try:
        if stored.job.drop is not None and not stored.job.state.terminal:
            await put_accepted(ports, stored.job, document)
        if stored.job.unmet and not stored.job.state.terminal and stored.job.sweep is None:
            stored = await look_again(ports, stored)
        if stored.job.state is JobState.SUBMITTING:
            stored = await submit(ports, stored, document)
        elif claim := await claim_at_door(ports, stored.job):
            stored = await _submit_claimed(ports, stored, claim)
        if notice is not None:
            await deliver_at_door(ports, notice)
    except (SlipwayError, TimeoutError) as error:
        why = quoted(error)
        log.warning("left to the sweeper: %s: %s", stored.job.id, why, extra={"job": stored.job.id})
    except Exception:
        log.exception("left to the sweeper: %s", stored.job.id, extra={"job": stored.job.id})
    return stored.job


async def _submit_claimed(ports: Ports, stored: Stored, claim: Claim) -> Stored:
    """Submit a job with its claim, if there is a slot for it; if there is none, it says so."""
    verdict = await admit_next(ports, stored, claims={stored.job.id: claim})
    if isinstance(verdict, Wait) and verdict.gate is SLOT:
        return await note_wait(ports, stored, verdict)
    if isinstance(verdict, Permit):
        stored = await dispatch(ports, verdict) or stored
        await release_claims(ports, [stored.job])
    return stored


async def sweep_with_key(job_sweeps: JobSweeps, job: Job) -> KeyTaken | None:
    """The sweep that has the key of a job, for which the job would be refused. Costs two point reads."""
    recorded = await job_sweeps.get(sweep_id(job.key))
    if recorded is not None:
        return key_taken(f"the sweep {recorded.sweep.id}")
    sweep = await job_sweeps.claimant(job.id)
    return key_claimed(f"the sweep {sweep}") if sweep is not None else None


def _first_notice(ports: Ports, job: Job) -> Notice | None:
    due = job.created + timedelta(seconds=ports.policy.deliver_grace)
    first = job.history[0]  # accepted, or rejected
    policy = ports.policy
    return notice_of(
        job, None, entry=first, source=policy.source, due=due, pull=policy.notices, receipt=policy.receipts
    )
