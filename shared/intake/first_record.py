"""The first record of a job, from its draft: accepted, held, or submitted at once. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from shared.core.engine import Cluster, Why
from shared.core.identity import intent, short_id
from shared.core.job import Budget, Entry, Job, JobState, Reason, Waiting, plain
from shared.core.policy import Policy
from shared.core.ports import Ports
from shared.core.relations.hold import Hold
from shared.core.teams.persons import person_of
from shared.intake.candidate import Candidate, Place
from shared.intake.desk.deployment_limits import demand_of
from shared.intake.desk.draft import Draft
from shared.intake.desk.prepare import Prepared, Runnable, slug
from shared.intake.receipt_path import receipt_path
from shared.jobspec import Envelope, Problem, Retry, hold_length, redact, report
from shared.lifecycle.packages import installs_packages

#: Characters that a record keeps: of each text of a problem, of all problems, and of the first one's line.
_PROBLEM_TEXT, _LINE = 600, 300
_PROBLEM_BYTES = 60_000


def first_record(ports: Ports, draft: Draft, place: Place) -> Job:
    """The first record, of a job that is accepted or, if it cannot run, rejected. No I/O."""
    candidate, prepared = draft.candidate, draft.prepared
    now, valid = ports.clock(), prepared.valid
    envelope, identity = candidate.request.envelope, place.id
    name = slug(envelope.name or candidate.name, f"{candidate.door}-{identity[2:10]}")
    experiment = slug(envelope.experiment or candidate.experiment, "default")
    state = JobState.ACCEPTED if valid else JobState.REJECTED
    return Job(
        id=identity,
        key=place.key,
        generation=place.generation,
        **_arrival(candidate, valid=valid),
        name=name,
        experiment=experiment,
        cluster=prepared.cluster.name if prepared.cluster else "",
        **_queue_request(prepared),
        notify=prepared.receivers,
        **_envelope_members(envelope),
        receipt=_receipt_folder(candidate, name, experiment, identity),
        **_share(ports.policy, candidate, prepared.runnable),
        state=state,
        **_findings(prepared),
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


def begun(policy: Policy, job: Job, cluster: Cluster | None) -> Job:
    """The first record of a job that is submitted at once: with the intent, which survives a crash."""
    if cluster is None or job.state is not JobState.ACCEPTED:
        return job
    (entry,) = job.history
    history = (entry, entry.model_copy(update={"sequence": 2, "state": JobState.SUBMITTING}))
    lease = timedelta(seconds=policy.submit_lease)
    fixed = intent(job, engine=cluster.engine, now=job.created, lease=lease)
    state = {"state": JobState.SUBMITTING, "sequence": 2, "history": history}
    return job.model_copy(update=state | dict(fixed))


def _arrival(candidate: Candidate, *, valid: bool) -> dict[str, Any]:
    """How it came, and the other jobs that it has to do with."""
    return {
        "payload": candidate.request.payload,
        "door": candidate.door,
        "source": candidate.source,
        "drop": candidate.drop,
        "code": candidate.request.code if valid else None,
        "rerun_of": candidate.rerun_of,
        "resumes": candidate.resumes,
        "dependencies": candidate.request.dependencies,
        "sweep": candidate.member,
    }


def _envelope_members(envelope: Envelope) -> dict[str, Any]:
    """What a record keeps of the envelope as it is."""
    retry = envelope.retry or Retry()
    return {
        "labels": redact(dict(envelope.labels)),
        "resources": envelope.resources.as_written() if envelope.resources else {},
        "retry": Budget(infrastructure=retry.infrastructure, user=retry.user),
        "hold": Hold(length=length) if (length := hold_length(envelope.hold)) else None,
    }


def _findings(prepared: Prepared) -> dict[str, Any]:
    """The problems of a document, its text if it cannot run, and a sentence about both."""
    members: dict[str, Any] = {
        "message": _message(prepared),
        "problems": _problems_for_record(prepared.problems),
        "received": prepared.received,
    }
    if prepared.valid:
        return members
    first = plain(report.headline(members["problems"]), _LINE)
    return members | {"reason": Reason.INVALID, "last_error": first}


def _queue_request(prepared: Prepared) -> dict[str, Any]:
    """The queue options that a document asks for; none if it cannot run."""
    properties = prepared.document["properties"] if prepared.document and prepared.valid else {}
    return {
        "nodes": properties.get("nodeCount", 0),
        "priority": properties.get("schedulingPriority") or "",
        "packages": 0 if installs_packages(properties) else None,
    }


def _share(policy: Policy, candidate: Candidate, runnable: Runnable | None) -> dict[str, Any]:
    """The team; and, for a job that may run, its GPUs, its price, and its claim on the team's quota."""
    share = candidate.request.share
    members: dict[str, Any] = {"team": share.team}
    if runnable is None:
        return members
    demand = demand_of(policy, runnable.document, runnable.cluster)
    members |= {"gpus": demand.gpus, "part": demand.part, "shares": demand.shares, "rate": demand.rate}
    members["longest"] = demand.hours
    if share.quota is not None:
        person = {"person": person_of(candidate.source)}
        members["claim"] = demand.claim.model_copy(update=person)
    return members


def _message(prepared: Prepared) -> str:
    if prepared.valid:
        return ""
    count = sum(problem.severity == "error" for problem in prepared.problems)
    return f"the document has {count} {'problem' if count == 1 else 'problems'} and was not submitted"


def _problems_for_record(problems: Sequence[Problem]) -> tuple[dict[str, Any], ...]:
    """The problems as the record keeps them: bounded, because a record has to fit into its row."""
    shortened: list[dict[str, Any]] = []
    room = _PROBLEM_BYTES
    for problem in problems:
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
    return receipt_path(folder, f"{name}-{short_id(identity)}")
