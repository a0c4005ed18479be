"""The types of Azure resources, in templates and in responses of the service. Pure."""

from __future__ import annotations

from typing import Any

from shared.jobspec.text.tree import JsonObject

#: The members around a resource's properties: in a response, in a template, in the output of `az`.
RESOURCE_MEMBERS = frozenset(
    (*("id", "name", "type", "resourceGroup", "apiVersion", "location", "tags", "dependsOn"),
     *("comments", "etag", "identity", "sku", "scale", "condition", "copy", "systemData", "kind", "zones"))
)  # fmt: skip
_BATCH_AI = "microsoft.batchai"
_LONGEST = 1000


def resource_type(document: JsonObject) -> str:
    """The type of a resource in lowercase, such as microsoft.batchai/workspaces/clusters; "" for others.

    It comes from its `type` or its id.
    """
    kind, identity = document.get("type"), document.get("id")
    if isinstance(kind, str) and "/" in kind and kind.lower().startswith("microsoft."):
        return kind[:_LONGEST].lower()
    if not isinstance(identity, str) or not identity.startswith("/subscriptions/"):
        return ""
    provider, *levels = identity[:_LONGEST].lower().rpartition("/providers/")[2].split("/")
    return "/".join((provider, *levels[::2]))


def is_job(kind: str) -> bool:
    """Whether this type is that of a job, in any version of the API."""
    return kind.startswith(f"{_BATCH_AI}/") and kind.endswith("/jobs")


def is_resource(document: JsonObject) -> bool:
    """Whether all its members are those of a resource."""
    return document.keys() <= RESOURCE_MEMBERS | {"properties", "$schema"}


def templated(document: JsonObject) -> list[Any]:
    """The resources of a template; none for any other document."""
    resources = document.get("resources")
    return resources if isinstance(resources, list) and "properties" not in document else []
