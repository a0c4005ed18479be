"""Completion: the values that `az batchai` filled into a job.json, and those that a drop needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from shared.jobspec.format.defaults import Defaults
from shared.jobspec.format.drop_paths import DROP_MOUNT
from shared.jobspec.format.mounts import ACCOUNT_MOUNT_LISTS, MOUNT_LISTS
from shared.jobspec.format.placeholders import has_script_placeholder, with_script
from shared.jobspec.format.scripts import same_mount_path
from shared.jobspec.text.tree import JsonObject, copied, quote

ACCOUNT_PLACEHOLDER = "<AZURE_BATCHAI_STORAGE_ACCOUNT>"
#: How the note of a mount of dropped files begins.
MOUNTED = "mountVolumes: the drop container"
KEY_PLACEHOLDER = "<AZURE_BATCHAI_STORAGE_KEY>"


class Completed(NamedTuple):
    """A completed copy, and a note on each completion."""

    document: JsonObject
    notes: tuple[str, ...]


def complete(
    document: JsonObject,
    defaults: Defaults,
    *,
    script: str | None = None,
    folder: str | None = None,
    cluster: str | None = None,
) -> Completed:
    """A completed copy, and a note on each completion. Accepts any JSON; faulty parts are not changed.

    It shares unchanged parts with the document.

    `script` and `folder` belong to a drop, relative to its container; `cluster` (name or id) is the caller's
    choice and overrides the document's. Submission fills in credentials (`with_credentials`).
    """
    whole = _copied(document, to_fill=defaults.drop_container is not None)
    properties = whole.get("properties") if isinstance(whole, dict) else None
    if not isinstance(properties, dict):
        return Completed(whole, ())
    notes = [
        *_cluster(properties, defaults, cluster),
        *_prefix(properties, defaults),
        *_accounts(properties, defaults),
        *_drop_mount(properties, defaults),
    ]
    if defaults.drop_container is not None and _mounts_drop(properties, defaults):
        notes += _scripts(properties, script, folder)
    return Completed(whole, tuple(notes))


def _copied(document: JsonObject, *, to_fill: bool) -> JsonObject:
    """A copy of what completion changes: placeholders may be anywhere, the rest is in few places."""
    properties = document.get("properties") if isinstance(document, dict) else None
    if to_fill or not isinstance(properties, dict):
        whole: JsonObject = copied(document)
        return whole
    mine = dict(properties)
    if "mountVolumes" in mine:
        mine["mountVolumes"] = copied(mine["mountVolumes"])
    return {**document, "properties": mine}


def _cluster(properties: JsonObject, defaults: Defaults, cluster: str | None) -> Iterator[str]:
    written = properties.get("cluster")
    name = written if isinstance(written, str) else written.get("id") if isinstance(written, dict) else None
    extras = [key for key in written if key != "id"] if isinstance(written, dict) else []
    if cluster is not None:
        name, written, extras = cluster, cluster, []
    if written is None and defaults.cluster_id is not None:
        properties["cluster"] = {"id": defaults.cluster_id}
        yield f"cluster: filled in with the default, {_last_segment(defaults.cluster_id)}"
    elif isinstance(name, str) and not extras:
        cluster_id = defaults.clusters.get(name, name)
        properties["cluster"] = {"id": cluster_id}
        if cluster_id != name:
            yield f"cluster: {quote(name)} stands for its full id"


def _prefix(properties: JsonObject, defaults: Defaults) -> Iterator[str]:
    if properties.get("stdOutErrPathPrefix") is None and defaults.std_out_err_path_prefix is not None:
        properties["stdOutErrPathPrefix"] = defaults.std_out_err_path_prefix
        yield f"stdOutErrPathPrefix: filled in with the default, {defaults.std_out_err_path_prefix}"


def _accounts(properties: JsonObject, defaults: Defaults) -> Iterator[str]:
    for name, mount in _mounts(properties, ACCOUNT_MOUNT_LISTS):
        label = f"{name} {quote(str(mount.get('relativeMountPath', '')))}"
        for key in ("accountName", "azureFileUrl"):
            text = mount.get(key)
            if isinstance(text, str) and ACCOUNT_PLACEHOLDER in text and defaults.storage_account is not None:
                mount[key] = text.replace(ACCOUNT_PLACEHOLDER, defaults.storage_account)
                yield f"{label}: {key} filled in with the storage account {defaults.storage_account}"
        account = _first_label(mount.get("azureFileUrl")) if mount.get("accountName") is None else None
        if account:
            mount["accountName"] = account
            yield f"{label}: accountName taken from azureFileUrl"
        credentials = mount.get("credentials")
        if isinstance(credentials, dict) and credentials.get("accountKey") == KEY_PLACEHOLDER:
            del credentials["accountKey"]
            yield f"{label}: the account's key is filled in at submission"


def mounts_drops(document: JsonObject, defaults: Defaults) -> bool:
    """Whether a document mounts something in the place of dropped files, so that none is mounted for it."""
    properties = document.get("properties")
    mount = _drop_mount(dict(properties), defaults) if isinstance(properties, dict) else ()
    return not tuple(mount)


def without_drop_mount(completed: JsonObject, defaults: Defaults) -> JsonObject:
    """A completed document without the mount of dropped files that completion has added to it."""
    properties = completed["properties"]
    volumes = properties["mountVolumes"]
    blobs = [one for one in volumes["azureBlobFileSystems"] if one != _own_mount(defaults)]
    volumes = {**volumes, "azureBlobFileSystems": blobs}
    volumes = {name: mounts for name, mounts in volumes.items() if mounts}
    rest = {name: value for name, value in properties.items() if name != "mountVolumes"}
    return {**completed, "properties": {**rest, **({"mountVolumes": volumes} if volumes else {})}}


def _own_mount(defaults: Defaults) -> JsonObject:
    return {
        "accountName": defaults.drop_account,
        "containerName": defaults.drop_container,
        "relativeMountPath": DROP_MOUNT,
    }


def _drop_mount(properties: JsonObject, defaults: Defaults) -> Iterator[str]:
    if defaults.drop_container is None or defaults.drop_account is None:
        return
    paths = [str(mount.get("relativeMountPath")).strip("/") for _, mount in _mounts(properties, MOUNT_LISTS)]
    if any(f"{path}/".startswith(f"{DROP_MOUNT}/") for path in paths):
        return
    volumes = properties.get("mountVolumes")
    volumes = {} if volumes is None else volumes
    blobs = volumes.get("azureBlobFileSystems") if isinstance(volumes, dict) else 0
    blobs = [] if blobs is None else blobs
    if not isinstance(blobs, list):
        return
    properties["mountVolumes"] = {**volumes, "azureBlobFileSystems": [*blobs, _own_mount(defaults)]}
    yield f"{MOUNTED} {defaults.drop_container} is mounted at {DROP_MOUNT}"


def _mounts_drop(properties: JsonObject, defaults: Defaults) -> bool:
    return any(
        same_mount_path(mount.get("relativeMountPath"), DROP_MOUNT)
        and mount.get("containerName") == defaults.drop_container
        for _, mount in _mounts(properties, ("azureBlobFileSystems",))
    )


def _scripts(properties: JsonObject, script: str | None, folder: str | None) -> list[str]:
    """Fill the placeholders in place; one note for all of them."""
    filled = False
    stack: list[Any] = [properties]
    while stack:
        node = stack.pop()
        entries: list[tuple[Any, Any]] = list(node.items() if isinstance(node, dict) else enumerate(node))
        for key, value in entries:
            if isinstance(value, dict | list):
                stack.append(value)
            elif (
                isinstance(value, str)
                and _takes_text(node, key, properties)
                and has_script_placeholder(value)
            ):
                node[key] = with_script(value, script=script, folder=folder, member=str(key))
                filled = filled or node[key] != value
    return [f"placeholders: filled in with {quote(script or folder or '')}"] if filled else []


def _takes_text(holder: Any, key: Any, properties: JsonObject) -> bool:
    """Whether a text belongs here.

    A placeholder in place of a number, an object or a list is not filled in.
    """
    return key == "stdOutErrPathPrefix" if holder is properties else not str(key).endswith("Count")


def _mounts(properties: JsonObject, lists: tuple[str, ...]) -> Iterator[tuple[str, JsonObject]]:
    volumes = properties.get("mountVolumes")
    mounts: JsonObject = volumes if isinstance(volumes, dict) else {}
    for name in lists:
        entries = mounts.get(name)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield name, entry


def _first_label(url: Any) -> str | None:
    """The account in an address such as https://account.file.core.windows.net/share."""
    try:
        host = urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        return None
    return host.partition(".")[0] or None if host and "<" not in host else None


def _last_segment(resource_id: str) -> str:
    return resource_id.rpartition("/")[2]
