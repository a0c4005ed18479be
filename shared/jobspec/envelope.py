"""The envelope of a job: its name, its cluster, its receivers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import Field, ValidationError

from shared.jobspec.checks.rules.container import is_cluster_id
from shared.jobspec.checks.rules.text import texts
from shared.jobspec.checks.shape import shape_problems
from shared.jobspec.checks.validate import shortened
from shared.jobspec.code import RequestedCode, code_problems
from shared.jobspec.format.base import Items, Model
from shared.jobspec.format.limits import Limits
from shared.jobspec.format.message_key import LONGEST_KEY, is_idempotency_key
from shared.jobspec.hold import hold_problems
from shared.jobspec.job_sweep import MAX_JOBS, sweep_problems
from shared.jobspec.needs import need_problems
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem, has_errors, in_document_order
from shared.jobspec.receivers import NAME, RequestedReceiver, receiver_problems
from shared.jobspec.resources import Resources, resource_problems
from shared.jobspec.text.tree import JsonObject, Node, is_object, quote, step

MAX_LABELS = 20
MAX_DEPENDENCIES = 20

_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)
_LABEL_VALUE = re.compile(r"[^\t\r\n]{0,256}")
_BLOB = re.compile(r"[a-z0-9-]{3,63}(?:/[^/\\?#\x00-\x1f]{1,255}){1,64}")


#: The limits of retries.
Tries: TypeAlias = Annotated[int, Field(ge=0, le=10)]


class Retry(Model):
    """The number of new attempts after a failure, by its cause."""

    #: Preempted, a lost node, or a failure of the engine.
    infrastructure: Tries = 3
    #: The job's own command failed.
    user: Tries = 0


class Envelope(Model):
    """A job message; `slipway.json` is the same without `spec` and `specBlob`."""

    name: str | None = None
    experiment: str | None = None
    #: A configured name or a full id.
    cluster: str | None = None
    #: The team that the job belongs to.
    team: str | None = None
    spec: Annotated[dict[str, Any] | None, Field(repr=False)] = None
    #: container/path of a blob with the spec.
    spec_blob: str | None = None
    idempotency_key: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    notify: Items[RequestedReceiver] = ()
    retry: Retry | None = None
    #: The archive with the code that it runs, which was sent before.
    code: RequestedCode | None = None
    #: The job's resources on its cluster.
    resources: Resources | None = None
    #: Jobs that have to succeed first, by id or name.
    after: Items[str] = ()
    #: Jobs that have to end without success first.
    after_failure: Items[str] = ()
    #: The parameters of a job sweep, and how many of its jobs may run at once.
    sweep: dict[str, Any] | None = None
    parallel: Annotated[int, Field(ge=1, le=MAX_JOBS)] | None = None
    #: Files of a dropped folder for which its job waits, by path or pattern.
    needs: Items[str] = ()
    #: For how long its nodes are kept after a failure of its own.
    hold: str | None = None


_MEMBERS = frozenset(str(field.alias or name) for name, field in Envelope.model_fields.items())


def is_bare_job(document: Any) -> bool:
    """Whether this is meant as a bare job.json: it has no member of an envelope."""
    return isinstance(document, dict) and not document.keys() & _MEMBERS


class ReadEnvelope(NamedTuple):
    """The envelope, None if any problem is an error; and all problems."""

    envelope: Envelope | None
    problems: tuple[Problem, ...]


def read_envelope(document: JsonObject, *, drop: bool = False, limits: Limits | None = None) -> ReadEnvelope:
    """The envelope, or None if any problem is an error; and all problems. `drop`: a slipway.json.

    The spec inside is left to `validate`, whose problems go `under("/spec")`. Never raises.
    """
    limits = limits or Limits()
    if not is_object(document):
        return ReadEnvelope(None, (problem("SW008", "", "the document is not a JSON object"),))
    problems = list(texts({key: value for key, value in document.items() if key != "spec"}, limits))
    envelope: Envelope | None = None
    try:
        envelope = Envelope.model_validate(document)
    except ValidationError as error:
        problems += [_for_envelope(flaw) for flaw in shape_problems(Envelope, document, error)]
    root = Node("", document)
    problems += [*_spec(root, drop=drop), *_names(root), *_labels(root)]
    problems += receiver_problems(root, limits.max_receivers)
    problems += [*_dependencies(root), *sweep_problems(root, drop=drop)]
    problems += [*code_problems(root, drop=drop), *need_problems(root, drop=drop), *hold_problems(root)]
    problems += resource_problems(document.get("resources"))
    ordered = in_document_order(document, problems)
    return ReadEnvelope(None if has_errors(ordered) else envelope, shortened(ordered, limits))


def sound_members(document: JsonObject, problems: Collection[Problem]) -> Envelope:
    """The envelope without its faulty members, so that a rejection also has a name and receivers."""
    wrong = {one.pointer.split("/")[1] for one in problems if one.pointer}
    try:
        return Envelope.model_validate({k: v for k, v in document.items() if step("", k)[1:] not in wrong})
    except ValidationError:
        return Envelope()


def _for_envelope(original: Problem) -> Problem:
    if (original.code, original.pointer) == ("SW012", "/properties"):
        message = '"properties" stands beside the members of an envelope'
        return replace(original, message=message, remedy='put it into "spec": {"properties": …}', fix=None)
    return original


def _spec(root: Node, *, drop: bool) -> Iterator[Problem]:
    names = [name for name in ("spec", "specBlob") if root.member(name).is_written]
    if drop:
        for name in names:
            message = f"{name} does not belong in slipway.json; the job is in job.json beside it"
            yield problem("SW060", root.member(name).pointer, message, f"remove {name}", of_name=True)
        return
    if len(names) == 2:
        yield problem("SW060", "", "spec and specBlob are both given")
    elif not names and not root.member("properties").is_written:
        yield problem("SW060", "", "neither spec nor specBlob is given")
    blob = root.member("specBlob")
    if blob.text is not None and not _is_blob(blob.text):
        yield problem("SW065", blob.pointer, "specBlob is not the path of a blob")


def _is_blob(text: str) -> bool:
    levels = text.split("/")
    return len(text) <= 1088 and bool(_BLOB.fullmatch(text)) and {".", ".."}.isdisjoint(levels)


def _names(root: Node) -> Iterator[Problem]:
    for name in ("name", "experiment", "team"):
        node = root.member(name)
        if node.text is not None and not NAME.fullmatch(node.text):
            yield problem("SW061", node.pointer, f"{quote(node.text)} cannot be a name")
    cluster = root.member("cluster")
    if cluster.text is not None and not (NAME.fullmatch(cluster.text) or is_cluster_id(cluster.text)):
        remedy = "name a configured cluster, or write its full id, /subscriptions/…/clusters/NAME"
        yield problem("SW061", cluster.pointer, f"{quote(cluster.text)} cannot be a cluster", remedy)
    key = root.member("idempotencyKey")
    if key.text is not None and not is_idempotency_key(key.text):
        remedy = f"use up to {LONGEST_KEY} visible ASCII characters"
        yield problem("SW061", key.pointer, "idempotencyKey has forbidden characters or length", remedy)


def _labels(root: Node) -> Iterator[Problem]:
    labels = root.member("labels")
    if not isinstance(labels.value, dict):
        return
    if len(labels.value) > MAX_LABELS:
        message = f"there are {len(labels.value)} labels; {MAX_LABELS} are allowed"
        yield problem("SW062", labels.pointer, message)
    for key, value in labels.value.items():
        if not _LABEL.fullmatch(key):
            message = f"{quote(key)} cannot be the name of a label"
            yield problem("SW062", step(labels.pointer, key), message, of_name=True)
        elif isinstance(value, str) and not _LABEL_VALUE.fullmatch(value):
            message = f"the value of the label {quote(key)} is too long or has line breaks"
            yield problem("SW062", step(labels.pointer, key), message)


def _dependencies(root: Node) -> Iterator[Problem]:
    lists = [root.member(name) for name in ("after", "afterFailure")]
    named = [node for one in lists for node in one.each()]
    if len(named) > MAX_DEPENDENCIES:
        place = next(one for one in reversed(lists) if one.value)
        message = f"{len(named)} jobs are named in after and afterFailure; {MAX_DEPENDENCIES} are allowed"
        yield problem("SW068", place.pointer, message)
        return
    names: set[str] = set()
    for node in named:
        if node.text is None:
            continue
        if not NAME.fullmatch(node.text):
            yield problem("SW068", node.pointer, f"{quote(node.text)} cannot be the id or the name of a job")
        elif node.text in names:
            yield problem("SW068", node.pointer, f"{quote(node.text)} is named twice")
        names.add(node.text)
