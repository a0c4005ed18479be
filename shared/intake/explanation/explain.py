"""explain: what would happen to a job, worked out by the functions that would run it.

Records and submits nothing.

Secrets never appear: values that a person sent are masked in the answer, and account keys are replaced by
masks before the request is built.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from shared.admission.active import active_jobs
from shared.admission.sentences import why_after
from shared.core.engine import Cluster, ClusterView, room
from shared.core.errors import EngineError, Misuse
from shared.core.facts import combined_facts
from shared.core.identity import short_id
from shared.core.job import Job, JobState, Stored
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import Ports
from shared.core.relations.before import Before
from shared.core.relations.dependency import Judgement, judge, verdict
from shared.core.view import others
from shared.intake.accept import sweep_with_key
from shared.intake.desk.draft import Draft
from shared.intake.desk.facts import cluster_member
from shared.intake.desk.prepare import Prepared
from shared.intake.explanation.explain_run import code_lasts, describe_run, not_looked_up
from shared.intake.explanation.forecast import Ahead, nodes_to_add
from shared.intake.first_record import begun, first_record
from shared.intake.generations import next_place, runs_again
from shared.jobspec import JsonObject, redact
from shared.lifecycle.orders.written_before import written_before
from shared.lifecycle.packages import package_variables
from shared.lifecycle.waiting.dependents import Ends, ends_of

_ANY = "<job id>"

_DUPLICATES = {
    "drop": "the same job file and scripts in the same folder are the same job; "
    "uploading a file again after its end runs it again",
    "keyed": "another request of the same caller with this Idempotency-Key joins the job; "
    "with another document it is refused",
    "once": "nothing: without an Idempotency-Key every request is a job of its own",
}


async def explain(ports: Ports, draft: Draft, *, keyed: bool = True, live: bool = True) -> JsonObject:
    """The answer for machines; `explain_text.markdown` makes it readable.

    `keyed`: the key is the one that the job would have. `live`: query the ledger and the cluster, which only
    reads.
    """
    request, cluster = draft.candidate.request, draft.prepared.cluster
    dependencies = request.dependencies
    ends = await ends_of(ports, {one.job for one in dependencies if not one.met}) if dependencies else {}
    foreseen = await _foreseen(ports, draft, live=live and keyed)
    view, trouble = await _view(ports, cluster) if live else (None, "")
    ahead = await _ahead(ports, cluster) if live and cluster else None
    runnable = draft.prepared.runnable
    packages = await package_variables(ports, foreseen.job, runnable.document) if live and runnable else {}
    before = await written_before(ports, foreseen.job, runnable.document) if live and runnable else ()
    moment = _Moment(view, trouble, ahead, judge(dependencies, ends), ends, packages, before)
    return await off_loop(request.size, _body, ports, draft, foreseen, moment, keyed=keyed, live=live)


class _Foreseen(NamedTuple):
    """The record that would be made, the one that would be joined, and why the request would be refused."""

    job: Job
    existing: Stored | None
    refused: Misuse | None


class _Moment(NamedTuple):
    """What a cluster and the ledger say at this moment."""

    view: ClusterView | None
    trouble: str
    ahead: Ahead | None
    judgement: Judgement
    ends: Ends
    packages: Mapping[str, str]
    before: tuple[Before, ...]


def _body(
    ports: Ports, draft: Draft, foreseen: _Foreseen, moment: _Moment, *, keyed: bool, live: bool
) -> JsonObject:
    candidate, prepared = draft.candidate, draft.prepared
    job, existing, refused = foreseen
    kind = "drop" if candidate.drop else "keyed" if keyed else "once"
    body: JsonObject = {
        **_verdict(prepared, existing, refused, moment.judgement, moment.ends),
        "job": {
            "id": job.id if keyed else None,
            "name": job.name,
            "experiment": job.experiment,
            "door": job.door,
            "receipt": f"runs/{job.receipt}/receipt.json",
            "duplicates": _DUPLICATES[kind],
            "existing": {"id": existing.job.id, "state": existing.job.state.value} if existing else None,
        },
        **others(candidate.request.dependencies),
        "cluster": _cluster(draft, moment.view, moment.trouble),
        "notes": [*prepared.notes, *not_looked_up(candidate, live=live), *code_lasts(ports, job)],
        "problems": [problem.as_dict() for problem in prepared.problems],
        "document": redact(prepared.document),
    }
    if (runnable := prepared.runnable) is not None:
        body |= describe_run(ports, job, runnable, moment.packages, moment.before, moment.view, moment.ahead)
    body["warnings"] = _warnings(body)
    return body if keyed else _without_id(body, job)


async def _foreseen(ports: Ports, draft: Draft, *, live: bool) -> _Foreseen:
    """The record that would be made, or the one that would be joined, or why it would be refused."""
    candidate, prepared = draft.candidate, draft.prepared
    place = candidate.place
    job = begun(ports.policy, first_record(ports, draft, place), prepared.cluster)
    existing = await ports.ledger.get(job.id) if live else None
    try:
        if existing is not None and not runs_again(existing, candidate):
            return _Foreseen(job, existing, None)
        if existing is not None:
            existing, place = await next_place(ports, candidate, place, valid=prepared.valid)
            job = begun(ports.policy, first_record(ports, draft, place), prepared.cluster)
    except Misuse as error:
        return _Foreseen(job, existing, error)
    if existing is None and live and prepared.valid and candidate.drop is None:
        return _Foreseen(job, None, await sweep_with_key(ports.job_sweeps, job))
    return _Foreseen(job, existing, None)


class _ViewResult(NamedTuple):
    """A cluster as its engine shows it, or why it does not."""

    view: ClusterView | None
    trouble: str


async def _view(ports: Ports, cluster: Cluster | None) -> _ViewResult:
    if cluster is None:
        return _ViewResult(None, "")
    try:
        async with asyncio.timeout(ports.policy.explain_patience):
            view = await ports.engines.get(cluster.engine).nodes(cluster.name)
            return _ViewResult(replace(view, facts=combined_facts(cluster.facts, view.facts)), "")
    except (EngineError, TimeoutError) as error:
        return _ViewResult(None, str(error) or "it did not answer in time")


async def _ahead(ports: Ports, cluster: Cluster) -> Ahead:
    """The jobs of this deployment on the cluster: one range query a shard."""
    jobs = await active_jobs(ports.ledger)
    states = [row.state for row in jobs if row.target and row.target.cluster == cluster.name]
    running = sum(state is JobState.RUNNING for state in states)
    return Ahead(queued=len(states) - running, running=running)


def _verdict(
    prepared: Prepared, existing: Stored | None, refused: Misuse | None, judgement: Judgement, ends: Ends
) -> JsonObject:
    if refused is not None:
        return {"verdict": "refused", "summary": f"It would be refused: {refused}; {refused.remedy}."}
    if existing is not None:
        job = existing.job
        text = f"Nothing would run: it would join the job {job.id}, which is {job.state.value}."
        return {"verdict": "duplicate", "summary": text}
    if (runnable := prepared.runnable) is None:
        count = sum(problem.severity == "error" for problem in prepared.problems)
        text = f"It would be rejected, for {count} {'error' if count == 1 else 'errors'}."
        return {"verdict": "rejected", "summary": text}
    if (broken := judgement.broken) is not None:
        text = f"It would be cancelled: {verdict(broken, ends[broken.job])}."
        return {"verdict": "cancelled", "summary": text}
    waits = why_after(judgement.dependencies)
    first = f"; before that it {waits.text}" if waits else ""
    return {"verdict": "runs", "summary": f"It would run on {runnable.cluster.name}{first}."}


def _cluster(draft: Draft, view: ClusterView | None, trouble: str) -> JsonObject | None:
    request, cluster = draft.candidate.request, draft.prepared.cluster
    if cluster is None:
        return None
    why = "it is the default of this deployment"
    if request.envelope.cluster:
        why = "the message names it"
    elif cluster_member(request):
        why = "the job names it"
    body: JsonObject = {"name": cluster.name, "id": cluster.id, "engine": cluster.engine, "why": why}
    if view is None:
        return body | {
            "state": None,
            "note": f"could not be queried: {trouble}" if trouble else "was not queried",
        }
    nodes = _nodes(draft.prepared.document)
    return body | {
        "state": view.state,
        "size": view.size,
        "priority": view.priority,
        "nodes": view.nodes,
        "counts": dict(view.counts),
        "maximum": room(view),
        **({"nodesToAdd": nodes_to_add(nodes, view)} if nodes else {}),
        "errors": list(view.errors),
    }


def _nodes(document: JsonObject | None) -> int | None:
    nodes = document["properties"].get("nodeCount") if document else None
    return nodes if isinstance(nodes, int) and not isinstance(nodes, bool) else None


def _warnings(body: JsonObject) -> list[str]:
    """Warnings: the job may run, but these deserve attention."""
    warnings = [
        f"{p['code']} {p['pointer']}: {p['message']}" for p in body["problems"] if p["severity"] == "warning"
    ]
    for limit in body.get("limits", ()):
        if limit["met"] is False:
            why = limit.get("why") or f"asked {limit['asked']}, allowed {limit['allowed']}"
            warnings.append(f"{limit['name']}: {why}")
    cluster = body["cluster"] or {}
    warnings += [f"cluster {cluster['name']}: {text}" for text in cluster.get("errors", ())]
    warnings += (
        [f"cluster {cluster['name']} {cluster['note']}"] if "could not" in cluster.get("note", "") else []
    )
    return list(dict.fromkeys(warnings))


def _without_id(body: JsonObject, job: Job) -> JsonObject:
    """The answer for a job that has no id yet: values derived from the id are placeholders."""
    text = json.dumps(body)
    for part in (job.id, short_id(job.id), job.id[2:10]):
        text = text.replace(part, _ANY)
    document: JsonObject = json.loads(text)
    return document
