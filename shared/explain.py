"""explain: what would happen with a job, by the same functions that would do it. Records and submits nothing.

Secrets never come in: values that a person sent are masked in the answer, and keys of accounts are masks
before the request is built.
"""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

from shared.accept import Arrived, prepare_arrived, record, runs_again
from shared.dispatch import with_ours
from shared.errors import EngineError, Misuse
from shared.forecast import Ahead, cost, limits, nodes_to_add, room, wait
from shared.job import Job, JobState, Stored
from shared.ports import Cluster, ClusterView, Order, Ports
from shared.prepare import Prepared
from shared.prices import matching
from shared.spec import JsonObject, iso_duration, parse_duration, redact, with_credentials

_MASK = "***"
#: Seconds that the cluster has to answer.
_PATIENCE = 5.0
#: Generations that are looked through, from the one that was remembered.
_GENERATIONS = 100
_ANY = "<job id>"

_DUPLICATES = {
    "drop": "the same job file and scripts in the same folder are the same job; "
    "uploading a file again after its end runs it again",
    "keyed": "another request of the same caller with this Idempotency-Key joins the job; "
    "with another document it is refused",
    "once": "nothing: without an Idempotency-Key every request is a job of its own",
}


async def explain(ports: Ports, arrived: Arrived, *, known: bool = True, look: bool = True) -> JsonObject:
    """The answer for machines; `explanation.markdown` makes it readable.

    `known`: the key is the one that the job would have. `look`: ask the ledger and the cluster, reading only.
    """
    key, prepared = prepare_arrived(ports, arrived)
    job, existing, refused = await _job(ports, arrived, prepared, key, look=look and known)
    view, trouble = await _view(ports, prepared.cluster) if look else (None, "")
    ahead = await _ahead(ports, prepared.cluster) if look and prepared.cluster else None
    kind = "drop" if arrived.drop else "keyed" if known else "once"
    body: JsonObject = {
        **_verdict(prepared, existing, refused),
        "job": {
            "id": job.id if known else None,
            "name": job.name,
            "experiment": job.experiment,
            "door": job.door,
            "receipt": f"runs/{job.receipt}/receipt.json",
            "duplicates": _DUPLICATES[kind],
            "existing": {"id": existing.job.id, "state": existing.job.state.value} if existing else None,
        },
        "cluster": _cluster(prepared, arrived, view, trouble),
        "notes": list(prepared.notes),
        "problems": [problem.as_dict() for problem in prepared.problems],
        "document": redact(prepared.document) if prepared.document is not None else None,
    }
    if prepared.valid and prepared.cluster is not None:
        body |= _run(ports, job, prepared, view, ahead)
    body["warnings"] = _warnings(body)
    return body if known else _without_id(body, job)


async def _job(
    ports: Ports, arrived: Arrived, prepared: Prepared, key: str, *, look: bool
) -> tuple[Job, Stored | None, Misuse | None]:
    """The record that would be made, or the one that would be joined, or why it would be refused."""
    generation = arrived.generation
    while True:
        job = record(ports, arrived, prepared, key, generation)
        existing = await ports.ledger.get(job.id) if look else None
        if existing is None or generation >= arrived.generation + _GENERATIONS:
            return job, None, None
        try:
            if not runs_again(existing, arrived):
                return job, existing, None
        except Misuse as error:
            return job, existing, error
        generation += 1


async def _view(ports: Ports, cluster: Cluster | None) -> tuple[ClusterView | None, str]:
    if cluster is None:
        return None, ""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await ports.engines.of(cluster.engine).nodes(cluster.name), ""
    except (EngineError, TimeoutError) as error:
        return None, str(error) or "it did not answer in time"


async def _ahead(ports: Ports, cluster: Cluster) -> Ahead:
    """The jobs of this deployment on the cluster: one range query a shard."""
    shards = await asyncio.gather(*(ports.ledger.active(n) for n in range(ports.ledger.shards)))
    states = [
        row.state for rows in shards for row in rows if row.target and row.target.cluster == cluster.name
    ]
    running = sum(state is JobState.RUNNING for state in states)
    return Ahead(queued=len(states) - running, running=running)


def _verdict(prepared: Prepared, existing: Stored | None, refused: Misuse | None) -> JsonObject:
    if refused is not None:
        return {"verdict": "refused", "summary": f"It would be refused: {refused}; {refused.remedy}."}
    if existing is not None:
        job = existing.job
        text = f"Nothing would run: it would join the job {job.id}, which is {job.state.value}."
        return {"verdict": "duplicate", "summary": text}
    if not prepared.valid:
        count = sum(problem.severity == "error" for problem in prepared.problems)
        text = f"It would be rejected, for {count} {'error' if count == 1 else 'errors'}."
        return {"verdict": "rejected", "summary": text}
    name = prepared.cluster.name if prepared.cluster else "?"
    return {"verdict": "runs", "summary": f"It would run on {name}."}


def _cluster(
    prepared: Prepared, arrived: Arrived, view: ClusterView | None, trouble: str
) -> JsonObject | None:
    cluster = prepared.cluster
    if cluster is None:
        return None
    properties = (arrived.request.document or {}).get("properties")
    why = "it is the default of this deployment"
    if arrived.request.envelope.cluster:
        why = "the message names it"
    elif isinstance(properties, dict) and properties.get("cluster"):
        why = "the job names it"
    found: JsonObject = {"name": cluster.name, "id": cluster.id, "engine": cluster.engine, "why": why}
    if view is None:
        return found | {
            "state": None,
            "note": f"could not be asked: {trouble}" if trouble else "was not asked",
        }
    nodes = _nodes(prepared.document)
    return found | {
        "state": view.state,
        "size": view.size,
        "priority": view.priority,
        "nodes": view.nodes,
        "counts": dict(view.counts),
        "maximum": room(view),
        "nodesToAdd": nodes_to_add(nodes, view) if nodes else None,
        "errors": list(view.errors),
    }


def _run(
    ports: Ports, job: Job, prepared: Prepared, view: ClusterView | None, ahead: Ahead | None
) -> JsonObject:
    """Everything about the run itself: environment, request, limits, wait and cost."""
    assert job.target is not None
    assert prepared.document is not None
    policy = ports.policy
    masked = with_credentials(redact(prepared.document), dict.fromkeys(ports.account_keys, _MASK))
    order = Order(job.target, with_ours(masked, job))
    engine = ports.engines.of(job.target.engine)
    asked = engine.submission(order)
    nodes, length = (
        _nodes(prepared.document) or 0,
        _wall_clock(prepared.document, policy.limits.max_wall_clock),
    )
    size, priority = (view.size, view.priority) if view else ("", "")
    rows = matching(policy.prices, size, priority, policy.region) if size else ()
    shown = redact({"environmentVariables": _variables(engine.environment(order))})["environmentVariables"]
    return {
        "engineName": job.target.name,
        "environment": shown,
        "request": {"method": asked.method, "path": asked.path, "body": redact(asked.body)},
        "limits": limits(nodes, length, policy.limits, view),
        "wait": wait(nodes, view, ahead),
        "cost": cost(nodes, length, size, priority, rows),
        "wallClockLimit": iso_duration(length),
    }


def _variables(variables: Any) -> list[JsonObject]:
    return [{"name": v.name, "value": v.value, "source": v.source, "exact": v.exact} for v in variables]


def _nodes(document: JsonObject | None) -> int | None:
    properties = (document or {}).get("properties")
    found = properties.get("nodeCount") if isinstance(properties, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _wall_clock(document: JsonObject, default: timedelta) -> timedelta:
    constraints = document["properties"].get("constraints") or {}
    return parse_duration(str(constraints.get("maxWallClockTime") or "")) or default


def _warnings(body: JsonObject) -> list[str]:
    """What deserves attention although nothing forbids the job."""
    found = [
        f"{p['code']} {p['pointer']}: {p['message']}" for p in body["problems"] if p["severity"] == "warning"
    ]
    for limit in body.get("limits", ()):
        if limit["met"] is False:
            why = limit.get("why") or f"asked {limit['asked']}, allowed {limit['allowed']}"
            found.append(f"{limit['name']}: {why}")
    cluster = body["cluster"] or {}
    found += [f"cluster {cluster['name']}: {text}" for text in cluster.get("errors", ())]
    found += (
        [f"cluster {cluster['name']} {cluster['note']}"] if "could not" in cluster.get("note", "") else []
    )
    return list(dict.fromkeys(found))


def _without_id(body: JsonObject, job: Job) -> JsonObject:
    """The answer for a job whose id nobody can know yet: what follows from the id is a placeholder."""
    text = json.dumps(body)
    for part in (job.id, job.id[2:18], job.id[2:10]):
        text = text.replace(part, _ANY)
    found: JsonObject = json.loads(text)
    return found
