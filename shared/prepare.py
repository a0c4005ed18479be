"""From what somebody sent to what can be recorded: complete, then validate, then check against the cluster.

Pure but for the ports it asks (`engines.check`, `seal`), which do no I/O either. All problems at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from shared.errors import Misconfigured
from shared.job import Subscriber
from shared.ports import Cluster, Ports
from shared.spec import (
    Envelope,
    Problem,
    Subscription,
    complete,
    redact,
    replace_secrets,
    secret_pointers,
    validate,
)
from shared.webhook_url import refusal, shown

JsonObject = dict[str, Any]


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
        return self.document is not None and not any(p.severity == "error" for p in self.problems)


def prepare(
    ports: Ports,
    document: JsonObject | None,
    envelope: Envelope,
    problems: tuple[Problem, ...],
    *,
    key: str,
    script: str | None = None,
    folder: str | None = None,
) -> Prepared:
    """Complete, validate and check one request. Never raises on bad input."""
    subscribers, notify_problems = _subscribers(ports, envelope, key)
    found = [*problems, *notify_problems]
    if document is None:
        return Prepared(None, None, subscribers, tuple(found))
    defaults = ports.policy.completion
    if folder is None:
        defaults = replace(defaults, drop_container=None)
    completed, notes = complete(document, defaults, script=script, folder=folder, cluster=envelope.cluster)
    cluster, cluster_problems = _cluster_of(ports, completed)
    found += cluster_problems
    spec, spec_problems = validate(
        completed, cluster_mounts=cluster.mounts if cluster else None, limits=ports.policy.limits
    )
    found += spec_problems
    if spec is not None and cluster is not None:
        found += _engine_problems(ports, spec, cluster)
    sealed, seal_problems = _sealed(ports, completed, key)
    return Prepared(sealed, cluster, subscribers, tuple(found + seal_problems), notes)


def slug(text: str, fallback: str) -> str:
    """A name that every part of the system takes: `[A-Za-z0-9_-]`, at most 64 characters."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:64] or fallback


def _cluster_of(ports: Ports, document: JsonObject) -> tuple[Cluster | None, list[Problem]]:
    properties = document.get("properties")
    reference = properties.get("cluster") if isinstance(properties, dict) else None
    identity = reference.get("id") if isinstance(reference, dict) else None
    if not isinstance(identity, str):
        return None, []  # validation says so
    for cluster in ports.engines.clusters.values():
        if cluster.id.lower() == identity.lower() or cluster.name == identity:
            return cluster, []
    return None, [_unknown_cluster(ports, "/properties/cluster/id", identity)]


def _unknown_cluster(ports: Ports, pointer: str, name: str) -> Problem:
    known = ", ".join(sorted(ports.engines.clusters)) or "none"
    return Problem(
        code="SW101",
        pointer=pointer,
        message=f"there is no cluster {name[:200]!r} here",
        remedy=f"use one of: {known}; or leave the cluster out to take the default",
    )


def _engine_problems(ports: Ports, spec: Any, cluster: Cluster) -> list[Problem]:
    try:
        return list(ports.engines.of(cluster.engine).check(spec))
    except Misconfigured as error:
        return [Problem("SW102", "/properties/cluster", str(error), "tell whoever runs this deployment")]


def _sealed(ports: Ports, document: JsonObject, key: str) -> tuple[JsonObject, list[Problem]]:
    pointers = secret_pointers(document)
    if not pointers:
        return document, []
    if ports.seal.available:
        return replace_secrets(document, lambda at, value: ports.seal.seal(value, f"{key}{at}")), []
    remedy = "use a secret reference (Key Vault), or set SLIPWAY_SEAL_KEY on the deployment"
    found = [
        Problem("SW103", at, "a secret value cannot be kept here: no sealing key is configured", remedy)
        for at in pointers
    ]
    return redact(document), found


def _subscribers(ports: Ports, envelope: Envelope, key: str) -> tuple[tuple[Subscriber, ...], list[Problem]]:
    asked = envelope.notify or tuple(Subscription.model_validate(s) for s in ports.policy.default_notify)
    subscribers: list[Subscriber] = []
    problems: list[Problem] = []
    for index, subscription in enumerate(asked):
        at = f"/notify/{index}"
        problem = _refused(ports, subscription, at)
        if problem is not None:
            problems.append(problem)
            continue
        sealed = None
        if shown(subscription.url) != subscription.url:
            sealed = ports.seal.seal(subscription.url, f"{key}{at}")
        subscribers.append(
            Subscriber(
                url=shown(subscription.url),
                secret=subscription.secret or "default",
                sealed=sealed,
                events=tuple(subscription.events),
            )
        )
    return tuple(subscribers), problems


def _refused(ports: Ports, subscription: Subscription, at: str) -> Problem | None:
    why = refusal(subscription.url, ports.policy.urls)
    if why is not None:
        return Problem("SW104", f"{at}/url", f"webhook address refused: {why}", "give a public https address")
    name = subscription.secret or "default"
    if name not in ports.secrets:
        known = ", ".join(sorted(ports.secrets)) or "none is configured"
        return Problem(
            "SW105",
            f"{at}/secret",
            f"there is no webhook secret named {name!r}",
            f"name a configured secret ({known})",
        )
    if shown(subscription.url) != subscription.url and not ports.seal.available:
        return Problem(
            "SW103",
            f"{at}/url",
            "an address with a query may hold a secret, and there is no sealing key",
            "give an address without a query, or set SLIPWAY_SEAL_KEY on the deployment",
        )
    return None
