"""Creates each object once, even if an answer is lost: the token in an annotation shows who owns a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.errors import Busy, Conflict, Misconfigured
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.compare import dropped
from shared.engines.kubernetes.wire.shapes import NAMED, checked

#: The annotation with the token of the attempt that an object belongs to.
TOKEN = "slipway/token"  # noqa: S105 - the name of an annotation
#: The fields that a cancellation changes later.
_CHANGED = frozenset({"spec.parallelism"})
#: The most fields that an error names.
_SHOWN = 5


class Creation(NamedTuple):
    """An object on the server, and whether this call made it."""

    object: Mapping[str, Any]
    is_new: bool
    #: the fields that were sent and that the server did not keep
    dropped: tuple[str, ...] = ()


async def make(client: KubernetesClient, path: str, body: Mapping[str, Any]) -> Creation:
    """POST an object. An existing one with the same name and token counts as success.

    Raises Conflict if the name is another job's, and Busy while an object of that name is being deleted. A
    server of another version drops fields without an error: the caller has to undo the effect of the rest.
    """
    query = {"fieldValidation": "Strict"}
    answer = await client.call("POST", path, body, query=query, accept=("AlreadyExists",))
    is_new = not answer.reason
    existing = (
        checked(answer.body, NAMED, body["metadata"]["name"])
        if is_new
        else await _existing(client, path, body)
    )
    lost = [place for place in dropped(body, existing) if is_new or place not in _CHANGED]
    return Creation(existing, is_new, tuple(lost))


def refuse_dropped(creation: Creation, name: str) -> None:
    """Raise Misconfigured if the server did not keep every field."""
    if creation.dropped:
        fields = ", ".join(creation.dropped[:_SHOWN])
        text = f"Kubernetes did not keep {fields} of {name}"
        raise Misconfigured(f"{text}: Slipway needs 1.26 or newer, and no webhook that changes its objects")


def token_of(document: Mapping[str, Any]) -> str:
    """The token in the annotation of an object, which was checked; "" if Slipway did not create it."""
    metadata = document.get("metadata") or {}
    return str((metadata.get("annotations") or {}).get(TOKEN) or "")


async def _existing(client: KubernetesClient, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    name = body["metadata"]["name"]
    answer = await client.call("GET", f"{path}/{name}", accept=("NotFound",))
    existing = {} if answer.reason else checked(answer.body, NAMED, name)
    if answer.reason or existing["metadata"].get("deletionTimestamp"):
        raise Busy(f"Kubernetes: an object {name} is being deleted; its name is free again when that is over")
    if token_of(existing) != token_of(body):
        raise Conflict(f"Kubernetes: the name {name} belongs to another job")
    return existing
