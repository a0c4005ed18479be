"""A job in the wrong wrapper: without `properties`, inside another object, or as in the service's response.

One message says so, and the job inside is checked as if it were in the right place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from shared.jobspec.checks.arm import RESOURCE_MEMBERS, is_job, is_resource, resource_type, templated
from shared.jobspec.format.models import JOB_PROPERTIES
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import JsonObject, copied, exact, quote, step, walk

#: The members that the service adds to a job in its responses.
ANSWERS = (
    *("toolType", "provisioningState", "provisioningStateTransitionTime", "executionState"),
    *("executionStateTransitionTime", "executionInfo", "creationTime", "jobOutputDirectoryPathSegment"),
)
#: Two of these that other resources have as well.
_OF_JOB = JOB_PROPERTIES - {"cluster", "secrets"}
#: How many such members make a document a response.
_MANY = 3
#: The members of a template that control whether and how often a resource is created.
_MAKING = ("copy", "condition", "dependsOn")
#: Objects that people and programs put around a job. In the last two, the service answers lists.
_HOLDERS = ("job", "jobs", "jobSpec", "parameters", "body", "request", "data", "items", "value")


class Unwrapped(NamedTuple):
    """The job in the right form, the problems around it, and the real place of its properties."""

    document: JsonObject
    problem: Problem
    properties: str


def unwrapped(document: JsonObject) -> Unwrapped | None:
    """The job inside a wrong wrapper; None if the wrapper is right or there is no job."""
    if templated(document):
        return _template(document)
    if (contained := _contained_job(document)) is not None:
        return _unwrap_contained(document, *contained)
    properties = document.get("properties")
    if properties is None:
        return _flat(document) if _is_flat(document) else None
    if not isinstance(properties, dict):
        return None
    inner = properties.get("properties")
    if isinstance(inner, dict) and has_job_members(inner):
        return _both_levels(properties, inner)
    return _resource(document, properties) if _is_resource(document, properties) else None


def _resource(document: JsonObject, properties: JsonObject) -> Unwrapped:
    around = [name for name in document if name in RESOURCE_MEMBERS]
    removed = [*(f"/{name}" for name in around), *_answers(properties, "/properties")]
    template = "apiVersion" in document and "id" not in document
    message = (
        "this is a resource of an ARM template, not a job.json"
        if template
        else "this is what the service answers about a job, not a job.json"
    )
    remedy, fix = 'keep "properties", without what the service adds', Fix("strip", removed=tuple(removed))
    if names := [name for name in _MAKING if document.get(name)]:
        remedy = f'keep "properties"; what {" and ".join(names)} say does not belong in a job'
        return Unwrapped(
            {"properties": _without_answers(properties)}, _problem(message, remedy, removed), "/properties"
        )
    return Unwrapped(
        {"properties": _without_answers(properties)}, _problem(message, remedy, removed, fix), "/properties"
    )


def _both_levels(properties: JsonObject, inner: JsonObject) -> Unwrapped:
    around = [step("/properties", name) for name in properties if name != "properties"]
    remedy = 'write {"properties": {…}} once'
    fix = None if around else Fix("lift", "/properties", removed=("/properties/properties",))
    flaw = _problem('"properties" is inside "properties"', remedy, around, fix)
    return Unwrapped({"properties": _without_answers(inner)}, flaw, "/properties/properties")


class _Contained(NamedTuple):
    """A job inside another object or a list: where it is, and how many there are."""

    location: str
    job: JsonObject
    number: int


def _contained_job(document: JsonObject) -> _Contained | None:
    """The job inside another object or a list, where it is, and how many there are."""
    names = [name for name in document if name not in ("$schema", "nextLink")]
    if len(names) != 1 or names[0] not in _HOLDERS:
        return None
    value, at = document[names[0]], step("", names[0])
    if isinstance(value, list) and value:
        return _Contained(f"{at}/0", value[0], len(value)) if isinstance(value[0], dict) else None
    return _Contained(at, value, 1) if isinstance(value, dict) else None


def _unwrap_contained(document: JsonObject, location: str, job: JsonObject, count: int) -> Unwrapped | None:
    inner = unwrapped(job)
    properties = job.get("properties")
    if inner is None and not has_job_members(properties):
        return None
    around = [step("", name) for name in document if not location.startswith(step("", name))]
    if inner is None:
        around += [step(location, name) for name in job if name != "properties"]
        inner = Unwrapped({"properties": properties}, _problem("", "", ()), "/properties")
    around += [location + pointer for pointer in inner.problem.unknown]
    message = f"the job is inside {quote(location.split('/')[1])}"
    remedy = "write the job itself"
    fix: Fix | None = Fix("lift", "", removed=(location,))
    if count > 1:
        message, remedy, fix = f"this is a list of {count} jobs", "write each into a file of its own", None
        around += [f"{location.rpartition('/')[0]}/{other}" for other in range(1, count)]
    flaw = _problem(message, remedy, around, fix)
    return Unwrapped(inner.document, flaw, location + inner.properties)


def _flat(document: JsonObject) -> Unwrapped:
    properties = {name: value for name, value in document.items() if name != "$schema"}
    message, remedy = 'the members of the job stand outside of "properties"', 'wrap them: {"properties": {…}}'
    removed: list[str] = []
    if len(_written_names(document, ANSWERS)) >= _MANY or is_job(resource_type(document)):
        message = 'this is what "az batchai job show" prints, not a job.json'
        remedy = 'wrap it in "properties", without what the service adds'
        around = [name for name in properties if name in RESOURCE_MEMBERS or name == "experimentName"]
        removed = [*(f"/{name}" for name in around), *_answers(properties, "")]
        properties = {
            name: value for name, value in _without_answers(properties).items() if name not in around
        }
    schema_first = "$schema" not in document or next(iter(document)) == "$schema"
    certain = bool(properties) and all(map(exact, properties)) and schema_first
    fix = Fix("into", "", "properties", names=tuple(properties), removed=tuple(removed)) if certain else None
    return Unwrapped({"properties": properties}, _problem(message, remedy, removed, fix), "")


def _template(document: JsonObject) -> Unwrapped | None:
    """The first job of a template. It is full of expressions, so a person must decide what to keep."""
    resources = templated(document)
    for index, resource in enumerate(resources):
        properties = resource.get("properties") if isinstance(resource, dict) else None
        if isinstance(properties, dict) and is_job(resource_type(resource)):
            remedy = 'write the "properties" of the job into a file of their own: {"properties": {…}}'
            at = f"/resources/{index}"
            around = [step("", name) for name in document if name != "resources"]
            around += [f"/resources/{other}" for other in range(len(resources)) if other != index]
            around += [step(at, name) for name in resource if name != "properties"]
            flaw = _problem("this is an ARM template, not a job.json", remedy, around)
            return Unwrapped({"properties": _without_answers(properties)}, flaw, f"{at}/properties")
    return None


def _problem(message: str, remedy: str, around: Collection[str], fix: Fix | None = None) -> Problem:
    """`around` are members that the format does not have: their contents are not shown."""
    flaw = problem("SW085", "", message, remedy, fix=fix)
    return replace(flaw, unknown=frozenset(around))


def has_job_members(properties: Any) -> bool:
    """Whether these are the properties of a job."""
    return isinstance(properties, dict) and bool(_written_names(properties, _OF_JOB))


def _is_flat(document: JsonObject) -> bool:
    return not document.keys() & {"spec", "specBlob"} and has_job_members(document)


def _is_resource(document: JsonObject, properties: JsonObject) -> bool:
    if not is_resource(document):
        return False
    if kind := resource_type(document):
        return is_job(kind)
    # Without a type, its members show what it is; a cluster also has a creation time.
    named = "apiVersion" in document or len(_written_names(properties, ANSWERS)) >= _MANY
    return named and has_job_members(properties)


def _written_names(document: JsonObject, names: Collection[str]) -> list[str]:
    return [name for name in names if document.get(name) is not None]


def _without_answers(properties: JsonObject) -> JsonObject:
    """A copy without the members that the service adds, and the groups that `az` repeats beside ids."""
    properties = {name: value for name, value in properties.items() if name not in ANSWERS}
    if any(_repeats_group(node.value) for node in walk(properties)):
        properties = dict(copied(properties))
        for node in walk(properties):
            if _repeats_group(node.value):
                del node.value["resourceGroup"]
    return properties


def _answers(properties: JsonObject, location: str) -> Iterator[str]:
    yield from (step(location, name) for name in properties if name in ANSWERS)
    for node in walk({name: value for name, value in properties.items() if name not in ANSWERS}):
        if node.pointer and _repeats_group(node.value):
            yield f"{location}{node.pointer}/resourceGroup"


def _repeats_group(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "resourceGroup"} <= value.keys()
