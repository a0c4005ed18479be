"""explain_run: the request that the cluster would get: environment, request, limits, wait and cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.core.code.record import source_of
from shared.core.cost.prices import matching
from shared.core.engine import ClusterView, Order, Submission
from shared.core.job import Job
from shared.core.ports import Ports
from shared.core.relations.before import Before
from shared.intake.candidate import Candidate
from shared.intake.desk.prepare import Runnable
from shared.intake.explanation.forecast import Ahead, cost, limits, wait
from shared.jobspec import JsonObject, iso_duration, redact, wall_clock, with_credentials
from shared.lifecycle.hold.own_end import hold_of
from shared.lifecycle.orders.order import with_ours
from shared.lifecycle.orders.written_before import variables_before

_MASK = "***"


def describe_run(
    ports: Ports,
    job: Job,
    runnable: Runnable,
    packages: Mapping[str, str],
    before: tuple[Before, ...],
    view: ClusterView | None,
    ahead: Ahead | None,
) -> JsonObject:
    """Everything about the run itself: environment, request, limits, wait and cost.

    `packages`: the variable with the cluster's settings for them (`package_variables`); `before`: the jobs
    that it waits for and that have ended.
    """
    policy, target, document = ports.policy, job.fixed_target, runnable.document
    keys, defaults = dict.fromkeys(ports.account_keys, _MASK), policy.completion
    suffix, drops = defaults.storage_suffix, defaults.drop_container
    masked = with_credentials(redact(document), keys, suffix, read_only=drops)
    code = source_of(job.code, _MASK) if job.code is not None else None
    more = {**packages, **variables_before(job, before)}
    document_of_job, resources = with_ours(masked, job, more), job.resources
    order = Order(target, document_of_job, resources=resources, code=code, before=before, hold=hold_of(job))
    engine = ports.engines.get(target.engine)
    *first, last = (_request(one) for one in engine.submissions(order))
    nodes, facts = int(document["properties"]["nodeCount"]), runnable.cluster.facts
    length = _wall_clock(document, facts.longest)
    size, priority = (view.size, view.priority) if view else ("", "")
    region = policy.region or (view.supply.region if view else "")
    rows = matching(policy.prices, size, priority, region, cluster=target.cluster)
    shown = redact({"environmentVariables": _variables(engine.environment(order))})["environmentVariables"]
    return {
        "engineName": target.name,
        "environment": shown,
        **({"requestsBefore": first} if first else {}),
        "request": last,
        "limits": limits(nodes, length, policy.limits, view, facts),
        "wait": wait(nodes, view, ahead),
        "cost": cost(nodes, length, size, priority, rows, part=job.part),
        "wallClockLimit": iso_duration(length),
    }


def code_lasts(ports: Ports, job: Job) -> list[str]:
    """What a long wait means for the code of a job, where the app signs addresses by its identity."""
    if job.code is None or ports.snapshots.longest is None:
        return []
    return [
        "code: nodes fetch it by an address that lasts for 7 days, unless they mount the container of code: "
        "after a longer wait in the queue of its cluster, the job gets a new attempt at the end of it, which "
        "costs no retry"
    ]


def not_looked_up(candidate: Candidate, *, live: bool) -> list[str]:
    """That jobs are not known without a deployment, where it waits for some."""
    envelope = candidate.request.envelope
    if live or not (envelope.after or envelope.after_failure):
        return []
    return ["the jobs that it waits for are not looked up: only a deployment knows them"]


def _request(submission: Submission) -> JsonObject:
    return {"method": submission.method, "path": submission.path, "body": redact(submission.body)}


def _variables(variables: Any) -> list[JsonObject]:
    return [{"name": v.name, "value": v.value, "source": v.source, "exact": v.exact} for v in variables]


def _wall_clock(document: JsonObject, longest: timedelta | None) -> timedelta:
    constraints = document["properties"].get("constraints") or {}
    return wall_clock(constraints.get("maxWallClockTime"), longest)
