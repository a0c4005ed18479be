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
    Facts,
    JobSpec,
    JsonObject,
    Problem,
    Source,
    Subscription,
    complete,
    has_errors,
    is_bare_job,
    masked,
    read,
    read_envelope,
    redact,
    seal_secrets,
    validate,
    with_lint,
)
from shared.webhook_url import hides, refusal, shown


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
    source: Source | None = None,
    around: Source | None = None,
    crlf: frozenset[str] = frozenset(),
) -> Prepared:
    """Complete, validate and check one request. Never raises on bad input.

    `at` is where the document stands in what was sent ("/spec" in an envelope). `source` is the text that the
    document was read from, `around` that of the envelope if it is another one: problems get their places.
    `crlf` are the scripts with the line ends of Windows.
    """
    subscribers, notify_problems = _subscribers(ports, envelope, key)
    if around is not None:
        notify_problems = list(around.locate(notify_problems))
    if document is None:
        more = _behind(ports, source, problems, folder) if source else ()
        found = tuple(dict.fromkeys((*problems, *notify_problems, *more)))
        return Prepared(None, None, subscribers, source.locate(found) if source else found)
    prepared = _checked(ports, document, envelope, key=key, script=script, folder=folder, crlf=crlf)
    found = (*problems, *notify_problems, *(problem.under(at) for problem in prepared.problems))
    return replace(prepared, subscribers=subscribers, problems=source.locate(found) if source else found)


def _behind(
    ports: Ports, source: Source, problems: tuple[Problem, ...], folder: str | None
) -> tuple[Problem, ...]:
    """What else is wrong, behind mistakes of syntax and of the envelope, to say all of it at once."""
    mended = source.behind(problems)
    data = mended or (b"" if source.base else source.data)
    document, problems = read(data, ports.policy.limits)
    if document is None:
        return problems if mended else ()
    envelope, at = Envelope(), ""
    if not is_bare_job(document):
        known, problems = read_envelope(document)
        envelope, at = known or Envelope(), "/spec"
        document = document.get("spec")
    if not isinstance(document, dict):
        return problems
    checked = _checked(ports, document, envelope, key="", script=None, folder=folder)
    return (*problems, *(problem.under(at) for problem in checked.problems))


def _checked(
    ports: Ports,
    document: JsonObject,
    envelope: Envelope,
    *,
    key: str,
    script: str | None,
    folder: str | None,
    crlf: frozenset[str] = frozenset(),
) -> Prepared:
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
    # Nobody knows what an unknown member holds.
    if unknown := [found.pointer for found in spec_problems if found.code == "SW012"]:
        sealed = masked(sealed, unknown)
    spec_problems = with_lint(spec_problems, completed, _facts(ports, cluster, crlf))
    return Prepared(sealed, cluster, (), (*spec_problems, *seal_problems), notes)


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


def _facts(ports: Ports, cluster: Cluster | None, crlf: frozenset[str]) -> Facts:
    facts = Facts(drop_container=ports.policy.drop_container, contents=dict.fromkeys(crlf, b"\r\n"))
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
    return tuple(subscribers), problems


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
