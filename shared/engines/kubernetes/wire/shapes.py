"""The types of those parts of an object that matter here. Pure.

A proxy, a webhook or a server of another version may send other types. Such an object decides nothing: no
state, no end, and nothing about other objects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from shared.core.errors import Busy

#: Whether a value has the types that a server gives it.
Shape = Callable[[Any], bool]


def checked(document: Any, shape: Shape, name: str) -> Mapping[str, Any]:
    """The same object. Raises Busy if it cannot be read; `name` says which it is."""
    if not shape(document):
        raise Busy(f"Kubernetes describes {name} in a form that cannot be read")
    return dict(document)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


def _members(shapes: Mapping[str, Shape], needed: Collection[str] = ()) -> Shape:
    """An object with such members; those that are not needed may be absent or null."""

    def fits(value: Any) -> bool:
        return isinstance(value, dict) and all(
            shape(member) if (member := value.get(name)) is not None else name not in needed
            for name, shape in shapes.items()
        )

    return fits


def _each(shape: Shape) -> Shape:
    """A list of such values."""
    return lambda value: isinstance(value, list) and all(shape(one) for one in value)


def _texts(*names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, _is_text)


_METADATA = {
    **_texts("name", "uid", "creationTimestamp", "deletionTimestamp"),
    "annotations": _is_texts,
    "labels": _is_texts,
    "ownerReferences": _each(_members(_texts("kind", "name"))),
}
_CONDITIONS = _each(_members(_texts("type", "status", "reason", "message", "lastTransitionTime"), ("type",)))
_STATES = {
    "running": _members(_texts("startedAt")),
    "waiting": _members(_texts("reason", "message")),
    "terminated": _members(_texts("reason", "startedAt", "finishedAt") | {"exitCode": _is_count}),
}
_CONTAINERS = _each(_members({"state": _members(_STATES)}))

#: An object of which only the owner matters.
NAMED = _members({"metadata": _members(_METADATA, ("name", "uid"))}, ("metadata",))
JOB = _members(
    {
        "metadata": _members(_METADATA, ("name", "uid")),
        "spec": _members({"suspend": _is_flag, "parallelism": _is_count, "completions": _is_count}),
        "status": _members(
            {
                "conditions": _CONDITIONS,
                **dict.fromkeys(("active", "ready", "terminating"), _is_count),
                **_texts("startTime", "completionTime"),
            }
        ),
    },
    ("metadata",),
)
POD = _members(
    {
        "metadata": _members(_METADATA),
        "spec": _members(_texts("nodeName")),
        "status": _members(
            {
                **_texts("phase", "reason", "startTime"),
                "conditions": _CONDITIONS,
                "containerStatuses": _CONTAINERS,
            }
        ),
    },
    ("metadata", "status"),
)
NODE = _members({"status": _members({"allocatable": _is_texts})})
WORKLOAD = _members(
    {
        "metadata": _members(_METADATA, ("name",)),
        "spec": _members({"active": _is_flag}),
        "status": _members({"conditions": _CONDITIONS}),
    },
    ("metadata",),
)
EVENT = _members(
    {
        "involvedObject": _members(_texts("name")),
        **_texts("reason", "message", "firstTimestamp", "lastTimestamp", "eventTime"),
    }
)
#: The metadata of a list, and a group of the API.
LIST = _members({"metadata": _members(_texts("continue"))})
GROUP = _members({"preferredVersion": _members(_texts("groupVersion"))})
