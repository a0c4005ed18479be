"""accept: the one use case behind every door. Record first, submit after, acknowledge last.

Bad input is a success of the function: it becomes a `rejected` record with its answer. Nothing after the
record may fail the function.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.core.engine import Cluster
from shared.core.errors import Exists, Misuse, Unavailable
from shared.core.identity import intent, job_id
from shared.core.job import Budget, Drop, Entry, Job, JobState, Member, Reason, Stored, Waiting, plain
from shared.core.meter import timed
from shared.core.notify.events import Notice, notice_of
from shared.core.ports import Ports
from shared.core.refusals import key_taken
from shared.delivery.answers import put_accepted
from shared.delivery.deliver import deliver_at_door
from shared.intake.facts import cluster_for
from shared.intake.folder import answer_path
from shared.intake.message import Request
from shared.intake.prepare import Draft, prepare, slug
from shared.jobspec import Retry, redact, report
from shared.lifecycle.admit import Wait, admit
from shared.lifecycle.dependents import look_at_door, why_after, why_member
from shared.lifecycle.dispatch import submit

log = logging.getLogger(__name__)

#: Characters of a problem that a record keeps: each of its texts, all of them, and the first one's line.
_PROBLEM_TEXT, _LINE = 600, 300
_PROBLEM_BYTES = 60_000
#: Doors whose callers get an error when they exceed a limit.
_ANSWERED = ("http", "rerun")


@dataclass(frozen=True)
class Candidate:
    """A request and its door. `source` is the caller or the door; `key` makes duplicates one."""

    door: str
    source: str
    key: str
    request: Request
    #: of the job, where its envelope has none
    name: str = ""
    experiment: str = ""
    drop: Drop | None = None
    script: str | None = None
    #: youngest Last-Modified of the dropped files, by the storage's clock
    modified: datetime | None = None
    #: where to start looking for the generation (a cache's word)
    generation: int = 1
    #: the job that is run again
    rerun_of: str = ""
    #: of a job of a job sweep
    member: Member | None = None


@dataclass(frozen=True)
class Accepted:
    """What became of a candidate. `created` is False for a duplicate, which joined the existing job."""

    job: Job
    created: bool
    notes: tuple[str, ...] = ()


@timed("slipway.accept")
async def accept(ports: Ports, candidate: Candidate, drafted: KeyedDraft | None = None) -> Accepted:
    """Record the job, or its rejection, and try one submission within the deadline.

    `drafted`: what `draft_of` said of it. Raises Misuse when the key is taken by another payload, Unavailable
    when storage does not answer.
    """
    key, draft = drafted or draft_of(ports, candidate, await cluster_for(ports, candidate.request))
    generation = candidate.generation
    answered = candidate.door in _ANSWERED and candidate.member is None
    while True:
        possible_id = job_id(key, generation)
        wait = None
        if draft.valid:
            later = candidate.member is not None or why_after(candidate.request.dependencies) is not None
            wait = await admit(ports, candidate.source, possible_id, waits=not answered, later=later)
        job = record(ports, candidate, draft, key, generation, wait)
        if wait is not None and wait.rate and answered:
            await _refuse(ports, job, wait)
        notice = _first_notice(ports, job)
        try:
            # A rejected document is not kept, but for its text without what its unknown members hold.
            stored = await ports.ledger.create(job, draft.document if draft.valid else None, notice)
        except Exists:
            existing = await ports.ledger.get(job.id)
            if existing is None:
                raise Unavailable(f"record {job.id} exists and cannot be read") from None
            if runs_again(existing, candidate):
                generation += 1
                continue
            ports.meter.add("slipway.duplicates.prevented", door=candidate.door)
            log.info("duplicate joined %s", job.id, extra={"job": job.id, "action": "joined"})
            return Accepted(existing.job, created=False)
        break
    ports.meter.add("slipway.jobs.accepted", door=candidate.door, state=stored.job.state.value)
    ports.meter.annotate(job=stored.job.id)
    log.info("%s by %s: %s", stored.job.state.value, job.door, job.id, extra={"job": job.id})
    after = await _follow_up(ports, stored, draft, notice)
    return Accepted(after, created=True, notes=draft.notes + _stuck_notes(after))


def _stuck_notes(job: Job) -> tuple[str, ...]:
    """What the cluster has reported: the job waits for something that will not come by itself."""
    waits = job.waiting
    return (f"warning: {waits.text}",) if waits is not None and waits.never else ()


async def _refuse(ports: Ports, job: Job, wait: Wait) -> None:
    """A caller waits for the answer, so a job over the limit is not recorded; a duplicate joins as usual."""
    if await ports.ledger.get(job.id) is None:
        seconds = max(1.0, (wait.until - ports.clock()).total_seconds())
        raise Misuse(
            wait.why.text.removeprefix("waits: "),
            status=429,
            remedy="send it again after Retry-After, or put it on the queue, where it waits",
            retry_after=seconds,
        )


def key_of(source: str, key: str) -> str:
    """What makes two candidates the same, as records keep it."""
    return hashlib.sha256(f"{source}|{key}".encode()).hexdigest()


class KeyedDraft(NamedTuple):
    """What makes two candidates the same, as records keep it; and the document, ready to record."""

    key: str
    draft: Draft


def draft_of(ports: Ports, candidate: Candidate, cluster: Cluster | None = None) -> KeyedDraft:
    """What makes two candidates the same, as records keep it; and the document, ready to record. No I/O.

    `cluster` is what `cluster_for` says of it.
    """
    key = key_of(candidate.source, candidate.key)
    folder = candidate.drop.folder if candidate.drop else None
    draft = prepare(
        ports, candidate.request, key=key, script=candidate.script, folder=folder, cluster=cluster
    )
    return KeyedDraft(key, draft)


async def _follow_up(ports: Ports, stored: Stored, draft: Draft, notice: Notice | None) -> Job:
    """What follows the record. Errors are logged, never raised: the ledger owns the job now."""
    try:
        if stored.job.drop is not None and not stored.job.state.terminal:
            await put_accepted(ports, stored.job, draft.document)
        if stored.job.unmet and not stored.job.state.terminal and stored.job.sweep is None:
            stored = await look_at_door(ports, stored)
        if stored.job.state is JobState.SUBMITTING:
            stored = await submit(ports, stored, draft.document)
        if notice is not None:
            await deliver_at_door(ports, notice)
    except Exception:
        log.exception("left to the sweep: %s", stored.job.id, extra={"job": stored.job.id})
    return stored.job


def runs_again(existing: Stored, candidate: Candidate) -> bool:
    """Whether the candidate starts a new generation; False joins. Raises Misuse for another payload."""
    job = existing.job
    ended = existing.stored if job.state.terminal else None
    if candidate.modified is not None and ended is not None:
        if candidate.modified > ended:
            return True
        # Last-Modified has whole seconds: in the second of the end, only different ETags reveal a new upload.
        # What was rejected may be mended by any of its files: a template, the envelope.
        decisive = job.state is JobState.REJECTED or candidate.modified >= ended.replace(microsecond=0)
        if decisive and candidate.drop and job.drop and candidate.drop.etags != job.drop.etags:
            return True
    if job.payload == candidate.request.payload:
        return False
    if job.state is JobState.REJECTED:
        return True
    raise key_taken(f"job {job.id}")


def record(
    ports: Ports, candidate: Candidate, draft: Draft, key: str, generation: int, wait: Wait | None = None
) -> Job:
    """The first record, with its intent, so that a crash leaves a name to look for, or its wait. No I/O."""
    now, token, valid = ports.clock(), ports.token(), draft.valid
    envelope, identity = candidate.request.envelope, job_id(key, generation)
    name = slug(envelope.name or candidate.name, f"{candidate.door}-{identity[2:10]}")
    experiment = slug(envelope.experiment or candidate.experiment, "default")
    states = [JobState.ACCEPTED if valid else JobState.REJECTED]
    waits = _waits(candidate, wait, now) if valid else None
    states += [JobState.SUBMITTING] if valid and waits is None else []
    job = Job(
        id=identity,
        key=key,
        generation=generation,
        payload=candidate.request.payload,
        door=candidate.door,
        source=candidate.source,
        name=name,
        experiment=experiment,
        labels=redact(dict(envelope.labels)),
        cluster=draft.cluster.name if draft.cluster else "",
        **_queue_request(draft),
        notify=draft.receivers,
        resources=envelope.resources.as_written() if envelope.resources else {},
        retry=Budget(**(envelope.retry or Retry()).model_dump()),
        drop=candidate.drop,
        receipt=_receipt_folder(candidate, name, experiment, identity),
        rerun_of=candidate.rerun_of,
        dependencies=candidate.request.dependencies,
        sweep=candidate.member,
        state=states[-1],
        message=_message(draft, waits),
        **_flaws(draft),
        created=now,
        due=wait.until if wait else now,
        turn=wait.until if wait and wait.rate else None,
        ended=None if valid else now,
        sequence=len(states),
        waiting=waits,
        history=tuple(
            Entry(sequence=n, state=to, at=now, token=token, waits=waits.text if waits else "")
            for n, to in enumerate(states, 1)
        ),
    )
    if job.state is not JobState.SUBMITTING or draft.cluster is None:
        return job
    lease = timedelta(seconds=ports.policy.submit_lease)
    return job.model_copy(update=intent(job, engine=draft.cluster.engine, now=now, lease=lease))


def _flaws(draft: Draft) -> dict[str, Any]:
    """What was found in a document, and the text of one that cannot run."""
    members: dict[str, Any] = {"problems": _problems_for_record(draft), "received": draft.received}
    if draft.valid:
        return members
    first = plain(report.headline(members["problems"]), _LINE)
    return members | {"reason": Reason.INVALID, "last_error": first}


def _queue_request(draft: Draft) -> dict[str, Any]:
    """What a document asks of its cluster's queue; nothing where it cannot run."""
    properties = draft.document["properties"] if draft.document and draft.valid else {}
    return {"nodes": properties.get("nodeCount", 0), "priority": properties.get("schedulingPriority") or ""}


def _waits(candidate: Candidate, wait: Wait | None, now: datetime) -> Waiting | None:
    """What a job waits for that cannot be submitted at once: other jobs first, then its own slot or seat."""
    why = why_after(candidate.request.dependencies) or (wait.why if wait else why_member(candidate.member))
    return Waiting(word=why.word, text=why.text, since=now) if why else None


def _message(draft: Draft, waits: Waiting | None) -> str:
    if draft.valid:
        return waits.text if waits else ""
    count = sum(problem.severity == "error" for problem in draft.problems)
    return f"the document has {count} {'problem' if count == 1 else 'problems'} and was not submitted"


def _problems_for_record(draft: Draft) -> tuple[dict[str, Any], ...]:
    """The problems as the record keeps them: bounded, for a record has to fit into its row."""
    shortened: list[dict[str, Any]] = []
    room = _PROBLEM_BYTES
    for problem in draft.problems:
        shown = {
            name: text[:_PROBLEM_TEXT] if isinstance(text, str) else text
            for name, text in problem.as_dict().items()
        }
        room -= len(str(shown))
        if room < 0:
            break
        shortened.append(shown)
    return tuple(shortened)


def _first_notice(ports: Ports, job: Job) -> Notice | None:
    due = job.created + timedelta(seconds=ports.policy.deliver_grace)
    first = job.history[0]  # accepted, or rejected
    policy = ports.policy
    return notice_of(
        job, None, entry=first, source=policy.source, due=due, pull=policy.notices, receipt=policy.receipts
    )


def _receipt_folder(candidate: Candidate, name: str, experiment: str, identity: str) -> str:
    folder = candidate.drop.folder if candidate.drop else experiment
    return answer_path(folder, f"{name}-{identity[2:10]}")
