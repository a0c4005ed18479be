"""From a request to a record: complete, then validate, then check against the cluster. All problems together.

Pure, except for the ports that it calls (`engines.check`, `seal`), which do no I/O either.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from shared.core.engine import Cluster
from shared.core.errors import Misconfigured, SlipwayError
from shared.core.job import Receiver
from shared.core.policy import Policy
from shared.core.ports import Engines, Ports
from shared.core.refusals import refused
from shared.intake.desk.deployment_limits import (
    limits_of,
    over_limits,
    refused_on,
    too_large,
)
from shared.intake.desk.facts import cluster_of
from shared.intake.desk.receivers import receivers_of
from shared.intake.message import Request
from shared.jobspec import (
    Facts,
    JobSpec,
    JsonObject,
    Problem,
    Source,
    complete,
    has_errors,
    masked,
    mounts_drops,
    redact,
    seal_secrets,
    shaped,
    unknown_properties,
    validate,
    with_dropped_name,
    with_lint,
    with_pages,
)

log = logging.getLogger(__name__)
#: The size, in bytes, up to which a record keeps the text of a rejected document.
_MOST_RECEIVED = 24_000


@dataclass(frozen=True)
class Runnable:
    """A job that may run: the document as it is stored, and its cluster."""

    document: JsonObject
    cluster: Cluster


@dataclass(frozen=True)
class Prepared:
    """A document ready to be recorded, or the problems that prevent it."""

    #: completed, secrets sealed: the form that is stored; None when nothing could be read
    document: JsonObject | None
    cluster: Cluster | None
    receivers: tuple[Receiver, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    #: the text of one that cannot run, without secrets and values of unknown members; "" if it is too long
    received: str = ""

    @property
    def valid(self) -> bool:
        """Whether the job may run."""
        return self.document is not None and not has_errors(self.problems)

    @property
    def runnable(self) -> Runnable | None:
        """The job as it would run; None if it is not valid."""
        if self.document is None or self.cluster is None or not self.valid:
            return None
        return Runnable(self.document, self.cluster)


def prepare(
    ports: Ports,
    request: Request,
    *,
    key: str,
    script: str | None = None,
    folder: str | None = None,
    cluster: Cluster | None = None,
) -> Prepared:
    """Complete, validate and check one request. Never raises on bad input, not even through a defect.

    Secrets are sealed for `key`; `script` and `folder` are those of a drop; `cluster` is the one that the
    request names, with its current facts.
    """
    try:
        return _judged(ports, request, key=key, script=script, folder=folder, cluster=cluster)
    except SlipwayError:
        raise
    except Exception:
        log.exception("a document could not be checked; it is refused")
        # The text of the error may quote the document.
        problem = refused("SW111", request.pointer, "the document could not be checked")
        return Prepared(None, None, (), with_pages((problem,), ports.policy.rules_url))


def _judged(
    ports: Ports,
    request: Request,
    *,
    key: str,
    script: str | None,
    folder: str | None,
    cluster: Cluster | None,
) -> Prepared:
    receivers, notify_problems = receivers_of(ports, request, key)
    if request.around is not None:
        notify_problems = request.around.locate(notify_problems)
    problems = (*request.problems, *notify_problems)
    prepared = Prepared(None, None, receivers, problems)
    if request.document is not None:
        checked = _checked(
            ports, request, request.document, key=key, script=script, folder=folder, fresh_cluster=cluster
        )
        located = tuple(problem.relocate(request.pointer, request.properties) for problem in checked.problems)
        document = checked.document if request.readable else None
        prepared = replace(
            checked,
            document=document,
            receivers=receivers,
            problems=tuple(dict.fromkeys((*problems, *located))),
        )
    if prepared.cluster is not None:
        refusals = refused_on(ports, request, prepared.document, prepared.cluster)
        refusals = request.around.locate(refusals) if request.around is not None else refusals
        prepared = replace(prepared, problems=(*prepared.problems, *refusals))
    located = request.text.locate(prepared.problems) if request.text else prepared.problems
    prepared = replace(prepared, problems=with_pages(located, ports.policy.rules_url))
    return prepared if prepared.valid else replace(prepared, received=_received(request.text, located))


def _received(source: Source | None, problems: Sequence[Problem]) -> str:
    if source is None or len(source.data) > _MOST_RECEIVED:
        return ""
    return source.masked(problems)


def _checked(
    ports: Ports,
    request: Request,
    document: JsonObject,
    *,
    key: str,
    script: str | None,
    folder: str | None,
    fresh_cluster: Cluster | None,
) -> Prepared:
    own = ports.policy.completion
    defaults = own if folder is not None else replace(own, drop_container=None)
    brings_folder = folder is not None and not mounts_drops(document, defaults)
    cluster_name = request.envelope.cluster
    completed, notes = complete(document, defaults, script=script, folder=folder, cluster=cluster_name)
    cluster, code = cluster_of(ports, completed), request.code or request.envelope.code
    if cluster is not None and fresh_cluster is not None and cluster.name == fresh_cluster.name:
        cluster = fresh_cluster
    spec, problems = validate(
        completed,
        cluster_mounts=cluster.facts.mounts if cluster else None,
        clusters={name: one.id for name, one in ports.engines.clusters.items()},
        accounts={*ports.account_keys, *filter(None, (defaults.storage_account,))} or None,
        directories=cluster.facts.directories if cluster else (),
        storage_suffix=defaults.storage_suffix,
        limits=limits_of(ports.policy, request, brings_folder=brings_folder),
        code_at=code.at if code and folder is None else None,  # that of a drop replaces its mount
    )
    if spec := spec or shaped(completed, problems):
        problems = (*problems, *over_limits(spec, ports.policy.limits, cluster))
        problems = (*problems, *_engine_problems(ports.engines, spec, cluster))
    sealed, seal_problems = _sealed(ports, completed, key)
    # An unknown member may hold anything.
    if unknown := unknown_properties(problems):
        sealed = masked(sealed, unknown)
    problems = (*problems, *too_large(request, sealed))
    problems = with_lint(problems, completed, _facts(ports.policy, request, cluster), original=document)
    problems = with_dropped_name(problems, document, script=script, folder=folder)
    return Prepared(sealed, cluster, (), (*problems, *seal_problems), notes)


def slug(text: str, fallback: str) -> str:
    """A name that every part of the system accepts: `[A-Za-z0-9_-]`, at most 64 characters."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:64] or fallback


def _facts(policy: Policy, request: Request, cluster: Cluster | None) -> Facts:
    own = policy.completion.std_out_err_path_prefix or ""
    facts = Facts(policy.drop_container, request.absent, request.crlf, default_prefix=own)
    if cluster is None:
        return facts
    resources = request.envelope.resources
    partition = f" (partition {resources.partition})" if resources and resources.partition else ""
    return replace(
        facts,
        cluster=f"{cluster.name}{partition}",
        cluster_mounts=cluster.facts.mounts,
        keeps_files=cluster.facts.keeps_files,
        max_nodes=None if cluster.facts.lists_all else cluster.facts.max_nodes,
        gpus_per_node=cluster.facts.gpus,
        max_wall_clock=cluster.facts.longest,
        retired_size=cluster.facts.retired_size,
    )


def _engine_problems(engines: Engines, spec: JobSpec, cluster: Cluster | None) -> list[Problem]:
    try:
        return list(engines.get(cluster.engine).check(spec)) if cluster is not None else []
    except Misconfigured as error:
        return [refused("SW101", "/properties/cluster", str(error))]


class _Sealed(NamedTuple):
    """A document with its secrets sealed, and problems for those that cannot be."""

    document: JsonObject
    problems: list[Problem]


def _sealed(ports: Ports, document: JsonObject, key: str) -> _Sealed:
    pointers: dict[str, None] = {}

    def seal(pointer: str, value: str) -> str:
        pointers[pointer] = None
        return ports.seal.seal(value, f"{key}{pointer}") if ports.seal.available else value

    sealed = seal_secrets(document, seal)
    if ports.seal.available:
        return _Sealed(sealed, [])
    why = "a secret value cannot be kept here: no sealing key is configured"
    return _Sealed(redact(document), [refused("SW102", at, why) for at in pointers])
