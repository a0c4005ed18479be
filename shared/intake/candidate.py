"""candidate: a request from a door, its draft, and the first record of its job. No I/O."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from shared.core.engine import Cluster, Why
from shared.core.identity import intent, job_id, short_id
from shared.core.job import Budget, Drop, Entry, Job, JobState, Member, Reason, Waiting, plain
from shared.core.pacing.off_loop import off_loop
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.intake.answer_path import answer_path
from shared.intake.deployment_limits import demand_of
from shared.intake.message import Request
from shared.intake.prepare import Draft, prepare, slug
from shared.jobspec import Envelope, Retry, redact, report

#: Characters that a record keeps: of each text of a problem, of all problems, and of the first one's line.
_PROBLEM_TEXT, _LINE = 600, 300
_PROBLEM_BYTES = 60_000


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
    #: where to start looking for the generation (a hint from a cache)
    generation: int = 1
    #: the job that is run again
    rerun_of: str = ""
    #: of a job of a job sweep
    member: Member | None = None


def key_of(source: str, key: str) -> str:
    """The key that makes two candidates the same job, as records keep it."""
    return hashlib.sha256(f"{source}|{key}".encode()).hexdigest()


class Place(NamedTuple):
    """The key and the generation of a record."""

    key: str
    generation: int

    @property
    def id(self) -> str:
        """The id of the record that stands there."""
        return job_id(self.key, self.generation)


class KeyedDraft(NamedTuple):
    """The key of a candidate, as records keep it, and its document, ready to record."""

    key: str
    draft: Draft


async def draft_of(ports: Ports, candidate: Candidate, cluster: Cluster | None = None) -> KeyedDraft:
    """The key of a candidate, as records keep it, and its document, ready to record. No I/O.

    `cluster` is the result of `cluster_for`.
    """
    key = key_of(candidate.source, candidate.key)
    folder = candidate.drop.folder if candidate.drop else None
    request, script = candidate.request, candidate.script
    draft = await off_loop(
        request.size, prepare, ports, request, key=key, script=script, folder=folder, cluster=cluster
    )
    return KeyedDraft(key, draft)


def record(ports: Ports, candidate: Candidate, draft: Draft, place: Place) -> Job:
    """The first record, of a job that is accepted or, if it cannot run, rejected. No I/O."""
    now, valid = ports.clock(), draft.valid
    envelope, identity = candidate.request.envelope, place.id
    name = slug(envelope.name or candidate.name, f"{candidate.door}-{identity[2:10]}")
    experiment = slug(envelope.experiment or candidate.experiment, "default")
    state = JobState.ACCEPTED if valid else JobState.REJECTED
    return Job(
        id=identity,
        key=place.key,
        generation=place.generation,
        **_arrival(candidate),
        name=name,
        experiment=experiment,
        cluster=draft.cluster.name if draft.cluster else "",
        **_queue_request(draft),
        notify=draft.receivers,
        **_envelope_members(envelope),
        receipt=_receipt_folder(candidate, name, experiment, identity),
        **_share(ports.policy, candidate, draft),
        state=state,
        **_findings(draft),
        created=now,
        due=now,
        ended=None if valid else now,
        history=(Entry(sequence=1, state=state, at=now, token=ports.token()),),
    )


def held(job: Job, why: Why) -> Job:
    """The first record of a job that has to wait: with the reason."""
    (entry,) = job.history
    waits = Waiting(word=why.word, text=why.text, since=job.created)
    history = (entry.model_copy(update={"waits": why.text}),)
    return job.model_copy(update={"waiting": waits, "message": why.text, "history": history})


def begun(ports: Ports, job: Job, draft: Draft) -> Job:
    """The first record of a job that is submitted at once: with the intent, which survives a crash."""
    if draft.cluster is None or job.state is not JobState.ACCEPTED:
        return job
    (entry,) = job.history
    history = (entry, entry.model_copy(update={"sequence": 2, "state": JobState.SUBMITTING}))
    lease = timedelta(seconds=ports.policy.submit_lease)
    fixed = intent(job, engine=draft.cluster.engine, now=job.created, lease=lease)
    state = {"state": JobState.SUBMITTING, "sequence": 2, "history": history}
    return job.model_copy(update=state | dict(fixed))


def _arrival(candidate: Candidate) -> dict[str, Any]:
    """How it came, and the other jobs that it has to do with."""
    return {
        "payload": candidate.request.payload,
        "door": candidate.door,
        "source": candidate.source,
        "drop": candidate.drop,
        "rerun_of": candidate.rerun_of,
        "dependencies": candidate.request.dependencies,
        "sweep": candidate.member,
    }


def _envelope_members(envelope: Envelope) -> dict[str, Any]:
    """What a record keeps of the envelope as it is."""
    return {
        "labels": redact(dict(envelope.labels)),
        "resources": envelope.resources.as_written() if envelope.resources else {},
        "retry": Budget(**(envelope.retry or Retry()).model_dump()),
    }


def _findings(draft: Draft) -> dict[str, Any]:
    """The problems of a document, its text if it cannot run, and a sentence about both."""
    members: dict[str, Any] = {
        "message": _message(draft),
        "problems": _problems_for_record(draft),
        "received": draft.received,
    }
    if draft.valid:
        return members
    first = plain(report.headline(members["problems"]), _LINE)
    return members | {"reason": Reason.INVALID, "last_error": first}


def _queue_request(draft: Draft) -> dict[str, Any]:
    """The queue options that a document asks for; none if it cannot run."""
    properties = draft.document["properties"] if draft.document and draft.valid else {}
    return {"nodes": properties.get("nodeCount", 0), "priority": properties.get("schedulingPriority") or ""}


def _share(policy: Policy, candidate: Candidate, draft: Draft) -> dict[str, Any]:
    """The team; and, for a job that may run, its GPUs, its price, and its claim on the team's quota."""
    request, runnable = candidate.request, draft.runnable
    members: dict[str, Any] = {"team": request.share.team}
    if runnable is None:
        return members
    demand = demand_of(policy, request, runnable.document, runnable.cluster)
    members |= {"gpus": demand.gpus, "rate": demand.rate}
    if request.share.quota is not None:
        members["claim"] = demand.claim
    return members


def _message(draft: Draft) -> str:
    if draft.valid:
        return ""
    count = sum(problem.severity == "error" for problem in draft.problems)
    return f"the document has {count} {'problem' if count == 1 else 'problems'} and was not submitted"


def _problems_for_record(draft: Draft) -> tuple[dict[str, Any], ...]:
    """The problems as the record keeps them: bounded, because a record has to fit into its row."""
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


def _receipt_folder(candidate: Candidate, name: str, experiment: str, identity: str) -> str:
    folder = candidate.drop.folder if candidate.drop else experiment
    return answer_path(folder, f"{name}-{short_id(identity)}")
