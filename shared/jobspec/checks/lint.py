"""Warnings and hints about documents that break no rule of the format, but fail later or surprise.

Lint does not stop a job, unless its cluster would refuse its wall-clock limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.checks.rules.variables import LOST
from shared.jobspec.format.duration import iso_duration, parse_duration
from shared.jobspec.format.limits import Limits
from shared.jobspec.format.scripts import script_places
from shared.jobspec.format.secrets import redact
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem, in_document_order
from shared.jobspec.text.tree import JsonObject, Node, is_object, quote, walk

_CLUSTER_ROOT, _JOB_ROOT = "AZ_BATCHAI_MOUNT_ROOT", "AZ_BATCHAI_JOB_MOUNT_ROOT"
#: A level that goes on with other letters than a mount can have is none of the mounts.
_ROOTED = re.compile(rf"\$\{{?{_CLUSTER_ROOT}\}}?/([A-Za-z0-9_.-]{{1,256}}+)(?![^\x00-\x7f])", re.ASCII)
_TAGGED = re.compile(r"[^/]*(?::[^/]+|@[^/]+)$")
_UNDER_ROOTS = ("SW033", "SW034")
_DEFAULT_PREFIX = ("SW034", "/properties/stdOutErrPathPrefix")
#: Where logs and results go.
_PREFIX = re.compile(r"/properties/(?:stdOutErrPathPrefix|outputDirectories/\d+/pathPrefix)", re.ASCII)
#: Files that a node reads line by line.
_LINES = (".sh", ".bash", ".py")
#: Fixes are kept with the record of a job, so they stay small.
_LONGEST_FIXED = 1000


@dataclass(frozen=True)
class Facts:
    """The known facts about the deployment and the job's cluster. None or empty: unknown, and not checked."""

    #: The drop container.
    drop_container: str | None = None
    #: Scripts there that the job names and that are missing, or have Windows line endings.
    absent: Collection[str] = ()
    crlf: Collection[str] = ()
    cluster: str = "the cluster"
    cluster_mounts: frozenset[str] | None = None
    #: Whether the cluster keeps files outside of all mounts.
    keeps_files: bool = False
    max_nodes: int | None = None
    gpus_per_node: int | None = None
    max_wall_clock: timedelta | None = None
    #: The deployment's default for stdOutErrPathPrefix, which every cluster mounts; "" where it has none.
    default_prefix: str = ""
    #: Why Azure no longer provides nodes of the cluster's size, and which size to use.
    retired_size: str = ""


def lint(document: JsonObject, facts: Facts | None = None) -> tuple[Problem, ...]:
    """Findings on a completed document besides those of `validate`. Takes any JSON and never raises."""
    if not is_object(document):
        return ()
    context = Context(properties=Node("", document).member("properties"), limits=Limits())
    problems = [one for rule in LINT for one in rule(context, facts or Facts())]
    return in_document_order(document, problems)


def with_lint(
    problems: Iterable[Problem],
    document: JsonObject,
    facts: Facts | None = None,
    *,
    original: JsonObject | None = None,
) -> tuple[Problem, ...]:
    """The problems that `validate` found and those of `lint`, in document order, one for each mistake.

    `original` is the document before completion: its author cannot correct an unsuitable default.
    """
    reported, hints = tuple(problems), lint(document, facts)
    if facts is not None and facts.keeps_files:
        reported = tuple(_of_kept(one) for one in reported if not _is_kept(one))
    if original is not None and not Node("", original).member("properties", "stdOutErrPathPrefix").is_written:
        reported = tuple(one for one in reported if (one.code, one.pointer) != _DEFAULT_PREFIX)
        hints = tuple(one for one in hints if one.pointer != _DEFAULT_PREFIX[1])
    if facts is not None and facts.default_prefix and any(one.code == "SW034" for one in reported):
        logs = _paths_below(
            document, facts.default_prefix, {one.pointer for one in reported if one.code == "SW034"}
        )
        reported = tuple(one for one in reported if one.code != "SW034" or one.pointer not in logs)
    errors = {one.pointer for one in reported if one.severity == "error" and one.code not in _UNDER_ROOTS}
    hints = tuple(one for one in hints if one.pointer not in errors)
    # A path with the wrong root is also on no known mount: one mistake.
    roots = {one.pointer for one in hints if one.code == "SW073"}
    remaining = (one for one in reported if not (one.code in _UNDER_ROOTS and one.pointer in roots))
    return in_document_order(document, (*remaining, *hints)) if hints else reported


def _paths_below(document: JsonObject, prefix: str, places: set[str]) -> set[str]:
    """Those of these places whose path is this directory, or below it."""
    own = Node("", document).member("properties", "stdOutErrPathPrefix")
    nodes = [own] if places == {own.pointer} else walk(document)
    below = f"{prefix.rstrip('/')}/"
    return {node.pointer for node in nodes if f"{node.text or ''}/".startswith(below)} & places


def _is_kept(one: Problem) -> bool:
    """Whether a problem only says that results may be lost, or their mount missing."""
    return one.severity == "warning" and one.code in _UNDER_ROOTS and bool(_PREFIX.fullmatch(one.pointer))


def _of_kept(one: Problem) -> Problem:
    """A problem where results are kept wherever they are: no variable in their path loses them."""
    if one.code != "SW045" or not _PREFIX.fullmatch(one.pointer):
        return one
    return replace(one, severity="warning", message=one.message.replace(LOST, ""))


def _image(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report an image without a tag, which may change from day to day."""
    node = context.properties.member("containerSettings", "imageSourceRegistry", "image")
    if node.text and not _TAGGED.search(node.text[-512:]):
        yield problem("SW072", node.pointer, "without a tag the image means the latest one, which changes")


def _roots(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report a path below the cluster's root whose mount is the job's own."""
    own = {path.partition("/")[0] for path in context.job_mounted.paths}
    cluster = facts.cluster_mounts
    of_cluster = {path.partition("/")[0] for path in cluster or ()}
    if not own - of_cluster:
        return
    nodes = (*context.files, *context.inputs, *context.prefixes, *context.commands)
    for node in (*nodes, *context.environment_values):
        matches = [match for match in _ROOTED.finditer(node.text or "") if match[1] in own - of_cluster]
        if not matches:
            continue
        message = (
            f"${_CLUSTER_ROOT} is the cluster's root, but it is the job that mounts {quote(matches[0][1])}"
        )
        text = node.text or ""
        certain = cluster is not None and redact(text) == text and len(text) <= _LONGEST_FIXED
        for match in reversed(matches) if certain else ():
            text = text[: match.start()] + match[0].replace(_CLUSTER_ROOT, _JOB_ROOT) + text[match.end() :]
        fix = Fix("replace", node.pointer, text) if certain else None
        yield problem("SW073", node.pointer, message, piece=matches[0][0], fix=fix)


def _nodes(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report more nodes than the cluster will ever have."""
    node = context.properties.member("nodeCount")
    if node.whole is not None and facts.max_nodes is not None and node.whole > facts.max_nodes:
        message = f"{facts.cluster} has at most {facts.max_nodes} nodes, so the job would wait forever"
        yield problem("SW075", node.pointer, message, f"write at most {facts.max_nodes}")


def _processes(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report more processes on a node than it has GPUs."""
    count = context.properties.member("nodeCount").whole
    if count is None or count < 1 or not facts.gpus_per_node:
        return
    gpus = count * facts.gpus_per_node
    for block in context.toolkits:
        for name in ("processCount", "workerCount"):
            node = block.member(name)
            if node.whole is not None and node.whole > gpus:
                message = f"{name} is more than the {gpus} GPUs of {count} nodes of {facts.cluster}"
                yield problem("SW076", node.pointer, message, f"write at most {gpus}, or raise nodeCount")


def _wall_clock(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report a wall-clock limit above the cluster's."""
    node = context.properties.member("constraints", "maxWallClockTime")
    length = parse_duration(node.text or "")
    if length is not None and facts.max_wall_clock is not None and length > facts.max_wall_clock:
        longest = iso_duration(facts.max_wall_clock)
        message = f"{facts.cluster} lets no job run longer than {longest}"
        yield problem("SW074", node.pointer, message, f'write at most "{longest}"')


def _size(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report a VM size that Azure has retired: the job would wait for nodes that never come."""
    if facts.retired_size:
        pointer = context.properties.member("cluster").pointer
        yield problem("SW078", pointer, f"{facts.cluster} gets no new nodes: {facts.retired_size}")


def _scripts(context: Context, facts: Facts) -> Iterator[Problem]:
    """Report scripts that are missing in the drop container, or have line endings that a node cannot read."""
    if facts.drop_container is None:
        return
    for pointer, path in script_places(context.properties, facts.drop_container):
        if path.name in facts.absent:
            message = f"{quote(path.name)} is not in the container {facts.drop_container}"
            yield problem("SW070", pointer, message, piece=path.written)
        elif path.name.endswith(_LINES) and path.name in facts.crlf:
            message = f"{quote(path.name)} has Windows line endings"
            yield problem("SW071", pointer, message, piece=path.written)


_Lint: TypeAlias = Callable[[Context, Facts], Iterator[Problem]]
LINT: tuple[_Lint, ...] = (_image, _roots, _nodes, _processes, _wall_clock, _size, _scripts)
