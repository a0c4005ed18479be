"""All problems of a job.json at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from pydantic import ValidationError

from shared.jobspec.checks.echoes import without_echoes
from shared.jobspec.checks.rules import RULES, Context
from shared.jobspec.checks.rules.text import texts
from shared.jobspec.checks.shape import shape_problems
from shared.jobspec.format.limits import Limits
from shared.jobspec.format.models import JobSpec
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem, has_errors, in_document_order
from shared.jobspec.text.tree import JsonObject, Node, is_object


class Validation(NamedTuple):
    """The spec, None if any problem is an error; and all problems."""

    spec: JobSpec | None
    problems: tuple[Problem, ...]


def validate(
    document: JsonObject,
    *,
    cluster_mounts: Collection[str] | None = None,
    clusters: Mapping[str, str] | None = None,
    accounts: Collection[str] | None = None,
    storage_suffix: str | None = None,
    directories: Collection[str] = (),
    code_at: str | None = None,
    limits: Limits | None = None,
) -> Validation:
    """The spec of a completed document, or None if any problem is an error; and all problems.

    Anything unknown stays unchecked: the cluster's mounts (paths on them get a warning), the configured
    clusters (name → id), the deployment's storage accounts, and the suffix of their hosts (then those of
    every Azure cloud are accepted). `directories`: what the cluster's nodes have a directory for. `code_at`
    is where the job's own code is: "work", or a folder below its mounts. Never raises.
    """
    limits = limits or Limits()
    if not is_object(document):
        return Validation(None, (problem("SW008", "", "the document is not a JSON object"),))
    problems = list(texts(document, limits))
    spec: JobSpec | None = None
    shape: list[Problem] = []
    try:
        spec = JobSpec.model_validate(document)
    except ValidationError as error:
        shape = shape_problems(JobSpec, document, error)
    context = Context(
        properties=Node("", document).member("properties"),
        limits=limits,
        cluster_mounts=cluster_mounts,
        clusters=None if clusters is None else clusters.values(),
        accounts=accounts,
        storage_suffix=storage_suffix,
        directories=directories,
        code_at=code_at,
    )
    ruled = [flaw for rule in RULES for flaw in rule(context)]
    ordered = in_document_order(document, [*problems, *without_echoes(shape, ruled)])
    return Validation(None if has_errors(ordered) else spec, shortened(ordered, limits))


def shaped(document: JsonObject, problems: Collection[Problem]) -> JobSpec | None:
    """The spec of a document with these problems, if it has the right shape and one toolkit, else None.

    For a caller with further checks of a document in which `validate` found errors.
    """
    if any(problem.code in ("SW020", "SW021") for problem in problems):
        return None
    try:
        return JobSpec.model_validate(document)
    except ValidationError:
        return None


def shortened(problems: tuple[Problem, ...], limits: Limits) -> tuple[Problem, ...]:
    """The first problems, as many as a person can use, and a last one that counts the rest."""
    rest = len(problems) - limits.max_problems
    if rest <= 0:
        return problems
    unknown = frozenset(one.pointer for one in problems[limits.max_problems :] if one.code == "SW012")
    more = replace(problem("SW016", "", f"{rest} more problems are not shown"), unknown=unknown)
    if not has_errors(problems):
        more = replace(more, severity="warning")
    return (*problems[: limits.max_problems], more)
