"""The subject of a request: the kind of object, its namespace, its name and its subresource."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.doubles.kubernetes.errors import Refusal
from tests.doubles.kubernetes.object_store import KINDS, Object


class Subject(NamedTuple):
    """The subject of a path."""

    plural: str
    namespace: str
    name: str = ""
    below: str = ""


def subject(path: str) -> Subject:
    """The subject of a path. Raises Refusal for a kind that the server does not have."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    plural, name, below = [*rest, "", "", ""][:3]
    kind = KINDS.get(plural)
    group = kind["group"] if kind else ""
    versions = {f"apis/{group}/{version}" for version in ("v1", "v1beta2")} if group else {"api/v1"}
    if kind is None or "/".join(parts[: 3 if group else 2]) not in versions:
        raise Refusal(404, "NotFound", "the server could not find the requested resource")
    return Subject(plural, namespace, name, below)


def right(call: str) -> tuple[str, str]:
    """The RESOURCE.GROUP and verb that an account needs for "METHOD PATH"."""
    method, _, path = call.partition(" ")
    about = subject(path)
    group = KINDS[about.plural]["group"]
    read = "get" if about.name else "list"
    verb = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}.get(method, read)
    return f"{about.plural}.{group}" if group else about.plural, verb


def selected(objects: list[Object], labels: str, fields: str) -> list[Object]:
    """The objects with these labels and fields."""
    return [
        one
        for one in objects
        if all(_has_label(one, term) for term in labels.split(",") if term)
        and all(_has_field(one, term) for term in fields.split(",") if term)
    ]


def merged(document: Any, patch: Any) -> Any:
    """The document with a JSON Merge Patch (RFC 7386) applied."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def _has_label(document: Object, term: str) -> bool:
    labels = document["metadata"].get("labels") or {}
    if term.startswith("!"):
        return term[1:] not in labels
    name, equals, value = term.partition("=")
    return bool(labels.get(name) == value if equals else name in labels)


def _has_field(document: Object, term: str) -> bool:
    negative = "!=" in term
    path, _, value = term.partition("!=" if negative else "=")
    value_found: Any = document
    for part in path.split("."):
        value_found = (value_found or {}).get(part)
    return bool(value_found != value) if negative else bool(value_found == value)
