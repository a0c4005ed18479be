"""Keys of storage accounts: filled in when a job is submitted, and never stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.spec.mounts import ACCOUNT_MOUNT_LISTS
from shared.spec.tree import JsonObject, Node, copied


def with_credentials(document: JsonObject, keys: Mapping[str, str]) -> JsonObject:
    """The document, whose mounts without credentials have their account's key from `keys` (account → key).

    A copy, or the document itself when no mount is without.
    """
    if next(_without_credentials(document), None) is None:
        return document
    whole: JsonObject = copied(document)
    for mount in _without_credentials(whole):
        key = keys.get(mount.at("accountName").text or "")
        if key is not None:
            mount.value["credentials"] = {"accountKey": key}
    return whole


def accounts_without_credentials(document: JsonObject) -> tuple[str, ...]:
    """The storage accounts whose keys `with_credentials` is asked for, sorted."""
    names = {mount.at("accountName").text for mount in _without_credentials(document)}
    return tuple(sorted(name for name in names if name))


def _without_credentials(document: JsonObject) -> Iterator[Node]:
    volumes = Node("", document).at("properties", "mountVolumes")
    for name in ACCOUNT_MOUNT_LISTS:
        for mount in volumes.at(name).each():
            written = mount.at("credentials").value
            nothing = written is None or (isinstance(written, dict) and not any(written.values()))
            if isinstance(mount.value, dict) and nothing:
                yield mount
