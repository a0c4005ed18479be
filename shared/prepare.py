"""From what somebody sent to what can be recorded: complete, then validate, then check against the cluster.

Pure but for the ports it asks (`engines.check`, `seal`), which do no I/O either. All problems at once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from shared.errors import Misconfigured
from shared.job import Subscriber
from shared.message import Request
from shared.ports import Cluster, Ports
from shared.refusals import refused
from shared.spec import (
    Facts,
    JobSpec,
    JsonObject,
    Limits,
    Problem,
    Subscription,
    complete,
    has_errors,
    iso_duration,
    masked,
    problem,
    redact,
    seal_secrets,
    shaped,
    unknown_properties,
    validate,
    with_lint,
    with_pages,
)
from shared.webhook_url import hides, refusal, shown

#: Characters, in UTF-16, of a document that one row of the ledger takes (1 MiB), with what surrounds it; and
#: by how much sealing may make a document longer, at the very most.
_KEPT, _MOST_GROWTH = 500_000, 20


@dataclass(frozen=True)
class Prepared:
    """A document ready to be recorded, or the problems that forbid it."""

    #: completed, secrets sealed: the form that is stored; None when nothing could be read
    document: JsonObject | None
    cluster: Cluster | None
    subscribers: tuple[Subscriber, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the job may run."""
        return self.document is not None and not has_errors(self.problems)


def prepare(
    ports: Ports, request: Request, *, key: str, script: str | None = None, folder: str | None = None
) -> Prepared:
    """Complete, validate and check one request. Never raises on bad input.

    `key` is what secrets are sealed for; `script` and `folder` are those of a drop.
    """
    subscribers, notify_problems = _subscribers(ports, request, key)
    if request.around is not None:
        notify_problems = request.around.locate(notify_problems)
    problems = (*request.problems, *notify_problems)
    prepared = Prepared(None, None, subscribers, problems)
    if request.document is not None:
        checked = _checked(ports, request, request.document, key=key, script=script, folder=folder)
        found = tuple(problem.under(request.at) for problem in checked.problems)
        sound = checked.document if request.sound else None
        prepared = replace(
            checked,
            document=sound,
            subscribers=subscribers,
            problems=tuple(dict.fromkeys((*problems, *found))),
        )
    found = request.source.locate(prepared.problems) if request.source else prepared.problems
    return replace(prepared, problems=with_pages(found, ports.policy.rules_url))


def _checked(
    ports: Ports,
    request: Request,
    document: JsonObject,
    *,
    key: str,
    script: str | None,
    folder: str | None,
) -> Prepared:
    defaults = ports.policy.completion
    if folder is None:
        defaults = replace(defaults, drop_container=None)
    cluster_name = request.envelope.cluster
    completed, notes = complete(document, defaults, script=script, folder=folder, cluster=cluster_name)
    cluster = _cluster_of(ports, completed)
    spec, problems = validate(
        completed,
        cluster_mounts=cluster.mounts if cluster else None,
        clusters={name: known.id for name, known in ports.engines.clusters.items()},
        accounts=ports.account_keys.keys() or None,
        limits=ports.policy.limits,
    )
    spec = spec or shaped(completed, problems)
    if spec is not None:
        problems = (*problems, *_too_long(spec, ports.policy.limits))
    if spec is not None and cluster is not None:
        problems = (*problems, *_engine_problems(ports, spec, cluster))
    sealed, seal_problems = _sealed(ports, completed, key)
    # Nobody knows what an unknown member holds.
    if unknown := unknown_properties(problems):
        sealed = masked(sealed, unknown)
    problems = (*problems, *_too_large(request, sealed))
    problems = with_lint(problems, completed, _facts(ports, request, cluster), written=document)
    return Prepared(sealed, cluster, (), (*problems, *seal_problems), notes)


def slug(text: str, fallback: str) -> str:
    """A name that every part of the system takes: `[A-Za-z0-9_-]`, at most 64 characters."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:64] or fallback


def _cluster_of(ports: Ports, document: JsonObject) -> Cluster | None:
    """The configured cluster that the document names; validation reports an unknown one."""
    identity: Any = document
    for name in ("properties", "cluster", "id"):
        identity = identity.get(name) if isinstance(identity, dict) else None
    if not isinstance(identity, str):
        return None
    known = ports.engines.clusters.values()
    return next((cluster for cluster in known if cluster.id.lower() == identity.lower()), None)


def _facts(ports: Ports, request: Request, cluster: Cluster | None) -> Facts:
    container = ports.policy.drop_container
    facts = Facts(drop_container=container, missing=request.missing, crlf=request.crlf)
    if cluster is None:
        return facts
    mounts = frozenset(cluster.mounts) if cluster.mounts is not None else None
    return replace(
        facts,
        cluster=cluster.name,
        cluster_mounts=mounts,
        max_nodes=cluster.max_nodes,
        gpus_per_node=cluster.gpus_per_node,
        max_wall_clock=cluster.max_wall_clock,
    )


def _engine_problems(ports: Ports, spec: JobSpec, cluster: Cluster) -> list[Problem]:
    try:
        return list(ports.engines.of(cluster.engine).check(spec))
    except Misconfigured as error:
        return [refused("SW101", "/properties/cluster", str(error))]


def _too_long(spec: JobSpec, limits: Limits) -> list[Problem]:
    """The node-hours that a job may use up at most, against the limit of the place."""
    nodes, length = spec.properties.node_count, spec.properties.wall_clock
    hours = nodes * length / timedelta(hours=1)
    if hours <= limits.max_node_hours:
        return []
    named = spec.properties.constraints and spec.properties.constraints.max_wall_clock_time
    how_long = iso_duration(length) + ("" if named else " (the job names no time)")
    message = f"{nodes} nodes for {how_long} are {hours:g} node-hours; {limits.max_node_hours:g} are allowed"
    return [refused("SW110", "/properties/nodeCount", message)]


def _too_large(request: Request, sealed: JsonObject) -> list[Problem]:
    """Sealed, a document is larger, many times so if it holds many short secrets; the ledger must take it."""
    if request.source is not None and len(request.source.data) * _MOST_GROWTH <= _KEPT:
        return []
    text = json.dumps(sealed, ensure_ascii=False, separators=(",", ":"))
    characters = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if characters <= _KEPT:
        return []
    message = f"completed, and with its secrets sealed, it has {characters} characters; {_KEPT} can be kept"
    return [problem("SW001", "", message)]


def _sealed(ports: Ports, document: JsonObject, key: str) -> tuple[JsonObject, list[Problem]]:
    pointers: dict[str, None] = {}

    def seal(at: str, value: str) -> str:
        pointers[at] = None
        return ports.seal.seal(value, f"{key}{at}") if ports.seal.available else value

    sealed = seal_secrets(document, seal)
    if ports.seal.available or not pointers:
        return sealed, []
    why = "a secret value cannot be kept here: no sealing key is configured"
    return redact(document), [refused("SW102", at, why) for at in pointers]


def _subscribers(
    ports: Ports, request: Request, key: str
) -> tuple[tuple[Subscriber, ...], tuple[Problem, ...]]:
    asked = request.envelope.notify or tuple(
        Subscription.model_validate(s) for s in ports.policy.default_notify
    )
    subscribers: list[Subscriber] = []
    problems: list[Problem] = []
    for index, subscription in enumerate(asked):
        at = f"/notify/{index}"
        problem = _refused(ports, subscription, at)
        if problem is not None:
            problems.append(problem.under(request.envelope_at))
            continue
        place = f"{key}{at}" if hides(subscription.url) else ""
        subscribers.append(
            Subscriber(
                url=shown(subscription.url),
                secret=subscription.secret or "default",
                sealed=ports.seal.seal(subscription.url, place) if place else None,
                place=place,
                events=tuple(subscription.events),
            )
        )
    return tuple(subscribers), tuple(problems)


def check_default_notify(ports: Ports) -> None:
    """Raise Misconfigured for a default subscription that no job could use: its author never wrote it."""
    for index, one in enumerate(ports.policy.default_notify):
        problem = _refused(ports, Subscription.model_validate(one), f"/{index}")
        if problem is not None:
            raise Misconfigured(f"SLIPWAY_DEFAULT_NOTIFY: {problem.pointer}: {problem.message}")


def _refused(ports: Ports, subscription: Subscription, at: str) -> Problem | None:
    why = refusal(subscription.url, ports.policy.urls)
    if why is not None:
        return refused("SW103", f"{at}/url", f"webhook address refused: {why}")
    name = subscription.secret or "default"
    if name not in ports.secrets:
        known = ", ".join(sorted(ports.secrets)) or "none is configured"
        return refused("SW104", f"{at}/secret", f"there is no webhook secret named {name!r} (known: {known})")
    if hides(subscription.url) and not ports.seal.available:
        return refused(
            "SW102", f"{at}/url", "an address with a path may hold a secret, and no key can seal it"
        )
    return None
