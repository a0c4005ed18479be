"""job_sweep: from a request with a sweep to its record, and to the records of its jobs.

The record comes first. The ids of its jobs are derived from it, so any process may repeat any step. A request
with a problem becomes one rejected job, as any other does.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from shared.core.errors import Unavailable
from shared.core.job import Budget
from shared.core.job_sweeps.record import JobSweep, StoredSweep, sweep_id
from shared.core.ledger.job_sweeps import JobSweeps
from shared.core.messages import digest
from shared.core.ports import Ports, Seal
from shared.core.refusals import key_claimed, key_taken
from shared.intake.accept import Accepted, accept, record
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import Draft, draft_again
from shared.intake.desk.prepare import slug
from shared.intake.generations import key_holder
from shared.intake.kept_code import keep_code
from shared.intake.message import Request
from shared.jobspec import (
    Envelope,
    JsonObject,
    Retry,
    Value,
    combinations,
    filled,
    longest,
    open_secrets,
    redact,
)

log = logging.getLogger(__name__)

#: How many jobs are recorded before the progress is noted.
_AT_ONCE = 50
#: How often a claim is tried again, when rejected jobs keep taking the ids meanwhile.
_CLAIMS = 10


@dataclass(frozen=True)
class AcceptedSweep:
    """The outcome of a request for a sweep: its record, or the rejected job with the reasons."""

    sweep: JobSweep | None
    rejected: Accepted | None = None
    created: bool = True
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> JobSweep:
        """The record. Raises ValueError if the request was rejected."""
        if self.sweep is None:
            raise ValueError("the sweep was rejected, so it does not have a record")
        return self.sweep


async def record_sweep(ports: Ports, draft: Draft) -> AcceptedSweep:
    """Record the sweep and its jobs; the same key joins it.

    Raises Misuse when the key is taken by another payload, Unavailable when storage does not answer.
    """
    candidate, template = draft.candidate, draft.prepared.document
    parameters = candidate.request.envelope.sweep or {}
    if (joined := await sweep_to_join(ports, candidate)) is not None:
        return joined
    if not draft.prepared.valid or template is None:
        return AcceptedSweep(None, await record(ports, draft))
    every = combinations(parameters)
    for values in (every[0], every[-1], longest(parameters)):
        sample = await draft_again(ports, _sample(candidate, values))
        if not sample.prepared.valid:
            return AcceptedSweep(None, await record(ports, sample))
    await keep_code(ports.snapshots, candidate)
    sweep = _record(ports, draft, len(every))
    await _claim(ports, sweep)
    stored = await ports.job_sweeps.create(sweep, template)
    if stored.sweep != sweep:
        return await _joined(ports, stored, candidate)
    log.info("job sweep %s: %d jobs", sweep.id, sweep.total, extra={"sweep": sweep.id})
    stored = await _expand(ports, stored)
    return AcceptedSweep(stored.sweep, None, True, draft.prepared.notes)


async def sweep_to_join(ports: Ports, candidate: Candidate) -> AcceptedSweep | None:
    """The sweep that has the key of the request, with all its jobs recorded; None where the key is free.

    Raises Misuse when the key is taken by a job, or by another payload.
    """
    existing = await ports.job_sweeps.get(sweep_id(candidate.place.key))
    if existing is not None:
        return await _joined(ports, existing, candidate)
    if (holder := (await key_holder(ports, candidate.place.key)).stored) is not None:
        raise key_taken(f"job {holder.job.id}")
    return None


async def _claim(ports: Ports, sweep: JobSweep) -> None:
    """Take the id that a job with the same key would get. Raises KeyTaken if a job was quicker.

    After a crash the claim remains: the same request continues from there, and no job gets the key.
    """
    for _ in range(_CLAIMS):
        holder, place = await key_holder(ports, sweep.key)
        if holder is not None:
            raise key_claimed(f"job {holder.job.id}")
        if await ports.job_sweeps.claim(sweep.id, place.id):
            return
    raise Unavailable(f"the key of {sweep.id} could not be claimed")


async def _joined(ports: Ports, stored: StoredSweep, candidate: Candidate) -> AcceptedSweep:
    """The sweep that has this key already; its missing jobs are recorded."""
    if stored.sweep.payload != candidate.request.payload:
        raise key_taken(f"the sweep {stored.sweep.id}")
    ports.meter.add("slipway.duplicates.prevented", door=candidate.door)
    stored = await _expand(ports, stored)
    return AcceptedSweep(stored.sweep, created=False)


async def expand(ports: Ports, identity: str) -> None:
    """Record the jobs of a sweep that are not recorded yet. Raises Unavailable."""
    stored = await ports.job_sweeps.get(identity)
    if stored is not None:
        await _expand(ports, stored)


async def _expand(ports: Ports, stored: StoredSweep) -> StoredSweep:
    sweep = stored.sweep
    if sweep.recorded_jobs >= sweep.total:
        return stored
    template = await ports.job_sweeps.template(sweep.id)
    if template is None:
        # It is deleted with the end of the sweep, before which all its jobs are recorded.
        raise Unavailable(f"the template of {sweep.id} is not there: read the record again")
    document = open_secrets(template, lambda at, value: ports.seal.unseal(value, f"{sweep.key}{at}"))
    envelope = _envelope(ports.seal, sweep)
    every = combinations(sweep.parameters)
    while (begin := stored.sweep.recorded_jobs) < sweep.total:
        end = min(begin + _AT_ONCE, sweep.total)
        numbers = range(begin, end)
        jobs = [_job(sweep, envelope, document, index, every[index]) for index in numbers]
        results = await asyncio.gather(*(accept(ports, job) for job in jobs), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        stored = await _note_recorded(ports.job_sweeps, stored, end)
    return stored


async def _note_recorded(job_sweeps: JobSweeps, stored: StoredSweep, number: int) -> StoredSweep:
    """The record, with this many jobs noted as recorded; other processes may write it, too."""
    while stored.sweep.recorded_jobs < number:
        after = stored.sweep.model_copy(update={"recorded_jobs": number})
        written = await job_sweeps.change(stored, after)
        if written is not None:
            return written
        again = await job_sweeps.get(stored.sweep.id)
        if again is None:
            raise Unavailable(f"the record of {stored.sweep.id} is not there")
        stored = again
    return stored


def _sample(candidate: Candidate, values: dict[str, Value]) -> Candidate:
    """One of the jobs, to check whether it may run; if not, it is rejected in place of the sweep."""
    request = candidate.request
    document = filled(request.document, values) if request.document is not None else None
    return replace(candidate, request=replace(request, document=document))


def _record(ports: Ports, draft: Draft, total: int) -> JobSweep:
    candidate, prepared, key = draft.candidate, draft.prepared, draft.candidate.place.key
    request, envelope, identity = candidate.request, candidate.request.envelope, sweep_id(key)
    name = slug(envelope.name or candidate.name, f"sweep-{identity[2:10]}")
    return JobSweep(
        id=identity,
        key=key,
        payload=request.payload,
        door=candidate.door,
        source=candidate.source,
        team=request.share.team,
        name=name,
        experiment=slug(envelope.experiment or name, "default"),
        cluster=prepared.cluster.name if prepared.cluster else "",
        labels=redact(dict(envelope.labels)),
        notify=prepared.receivers,
        retry=Budget(**(envelope.retry or Retry()).model_dump()),
        resources=envelope.resources.as_written() if envelope.resources else {},
        hold=envelope.hold or "",
        dependencies=request.dependencies,
        code=request.code,
        parameters=dict(envelope.sweep or {}),
        total=total,
        parallel=min(envelope.parallel or total, total),
        created=ports.clock(),
    )


def _envelope(seal: Seal, sweep: JobSweep) -> Envelope:
    """The envelope of its jobs; sealed addresses are opened."""
    notify = [
        {
            "url": seal.unseal(one.sealed, one.context) if one.sealed is not None else one.url,
            "secret": one.secret,
            "events": list(one.events),
        }
        for one in sweep.notify
    ]
    return Envelope.model_validate(
        {
            "experiment": sweep.experiment,
            "labels": dict(sweep.labels),
            "notify": notify,
            "retry": sweep.retry.model_dump(),
            "resources": dict(sweep.resources) or None,
            "hold": sweep.hold or None,
        }
    )


def _job(
    sweep: JobSweep, envelope: Envelope, document: JsonObject, index: int, values: dict[str, Value]
) -> Candidate:
    """One of its jobs, as a candidate like any other."""
    number = f"{index:0{len(str(sweep.total - 1))}d}"
    return Candidate(
        door=sweep.door,
        source=sweep.source,
        key=sweep.candidate_key(index),
        request=Request(
            envelope.model_copy(update={"name": f"{sweep.name[: 63 - len(number)]}-{number}"}),
            filled(document, values),
            digest({"sweep": sweep.payload, "index": index}),
            dependencies=sweep.dependencies,
            code=sweep.code,
        ),
        member=sweep.member(index, values),
        team=sweep.team,
    )
