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
from shared.refusals import refused
from shared.spec import (
    Envelope,
    JobSpec,
    JsonObject,
    Problem,
    Subscription,
    complete,
    has_errors,
    redact,
    replace_secrets,
    secret_pointers,
    validate,
)
from shared.webhook_url import refusal, shown


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
    ports: Ports,
    document: JsonObject | None,
    envelope: Envelope,
    problems: tuple[Problem, ...],
    *,
    key: str,
    at: str = "",
    script: str | None = None,
    folder: str | None = None,
) -> Prepared:
    """Complete, validate and check one request. Never raises on bad input.

    `at` is where the document stands in what was sent ("/spec" in an envelope).
    """
    subscribers, notify_problems = _subscribers(ports, envelope, key)
    found = [*problems, *notify_problems]
    if document is None:
        return Prepared(None, None, subscribers, tuple(found))
    defaults = ports.policy.completion
    if folder is None:
        defaults = replace(defaults, drop_container=None)
    completed, notes = complete(document, defaults, script=script, folder=folder, cluster=envelope.cluster)
    cluster = _cluster_of(ports, completed)
    spec, spec_problems = validate(
        completed,
        cluster_mounts=cluster.mounts if cluster else None,
        clusters={name: known.id for name, known in ports.engines.clusters.items()},
        accounts=ports.account_keys.keys() or None,
        limits=ports.policy.limits,
    )
    if spec is not None and cluster is not None:
        spec_problems = (*spec_problems, *_engine_problems(ports, spec, cluster))
    sealed, seal_problems = _sealed(ports, completed, key)
    found += [problem.under(at) for problem in (*spec_problems, *seal_problems)]
    return Prepared(sealed, cluster, subscribers, tuple(found), notes)


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


def _engine_problems(ports: Ports, spec: JobSpec, cluster: Cluster) -> list[Problem]:
    try:
        return list(ports.engines.of(cluster.engine).check(spec))
    except Misconfigured as error:
        return [refused("SW101", "/properties/cluster", str(error))]


def _sealed(ports: Ports, document: JsonObject, key: str) -> tuple[JsonObject, list[Problem]]:
    pointers = secret_pointers(document)
    if not pointers:
        return document, []
    if ports.seal.available:
        return replace_secrets(document, lambda at, value: ports.seal.seal(value, f"{key}{at}")), []
    why = "a secret value cannot be kept here: no sealing key is configured"
    found = [refused("SW102", at, why) for at in pointers]
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
        return refused("SW103", f"{at}/url", f"webhook address refused: {why}")
    name = subscription.secret or "default"
    if name not in ports.secrets:
        known = ", ".join(sorted(ports.secrets)) or "none is configured"
        return refused("SW104", f"{at}/secret", f"there is no webhook secret named {name!r} (known: {known})")
    if shown(subscription.url) != subscription.url and not ports.seal.available:
        return refused(
            "SW102", f"{at}/url", "an address with a query may hold a secret, and no key can seal it"
        )
    return None
