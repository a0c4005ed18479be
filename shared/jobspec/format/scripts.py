"""Scripts in the drop container: which ones a job needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shared.jobspec.format.drop_paths import (
    DROP_MOUNT,
    PATH_FIELDS,
    DropPath,
    is_file,
    path_of_field,
    paths_of_command,
)
from shared.jobspec.format.mounts import MOUNT_LISTS
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.text.tree import JsonObject, Node

#: What this field names may be a part of a directory that is used as a whole.
_INTERPRETER = "pythonInterpreterPath"


def scripts_wanted(
    document: JsonObject, *, container: str | None = None, account: str | None = None
) -> tuple[str, ...]:
    """Blob names that the completed document refers to under the mount, sorted.

    Empty when the mount is not a blob container (the one named, in the account named).
    """
    properties = Node("", document).member("properties")
    return tuple(sorted({one.name for _, one in script_places(properties, container, account)}))


def scripts_possible(
    document: JsonObject, *, container: str | None = None, account: str | None = None
) -> tuple[str, ...]:
    """Other names that texts of the document may mean: they count if there are such blobs, sorted."""
    properties = Node("", document).member("properties")
    places = tuple(_places(properties, container, account))
    certain = {one.name for _, one in places if one.certain}
    return tuple(sorted({one.name for _, one in places} - certain))


def scripts_mounted(document: JsonObject) -> tuple[str, ...]:
    """The paths below `scripts` that a document certainly runs, where it mounts something there, sorted."""
    properties = Node("", document).member("properties")
    named = _named(properties) if mounts_scripts(document) else ()
    return tuple(sorted({one.name for _, one in named if one.certain}))


def mounts_scripts(document: JsonObject) -> bool:
    """Whether the document mounts something in the place of scripts, of any kind."""
    volumes = Node("", document).member("properties", "mountVolumes")
    mounts = (mount for kind in MOUNT_LISTS for mount in volumes.member(kind).each())
    return any(same_mount_path(mount.member("relativeMountPath").value, DROP_MOUNT) for mount in mounts)


def script_places(
    properties: Node, container: str | None, account: str | None = None
) -> Iterator[tuple[str, DropPath]]:
    """The blobs that are certainly meant, each with the pointer to its place."""
    return ((pointer, one) for pointer, one in _places(properties, container, account) if one.certain)


def _places(properties: Node, container: str | None, account: str | None) -> Iterator[tuple[str, DropPath]]:
    if _is_drop_mount(properties, container, account):
        yield from _named(properties)


def _named(properties: Node) -> Iterator[tuple[str, DropPath]]:
    for node in _runnable(properties):
        name = node.pointer.rpartition("/")[2]
        if name not in (*PATH_FIELDS, _INTERPRETER):
            yield from ((node.pointer, one) for one in paths_of_command(node.value))
        elif (path := path_of_field(node.value)) and (name in PATH_FIELDS or is_file(path.name)):
            yield node.pointer, path


def _is_drop_mount(properties: Node, container: str | None, account: str | None) -> bool:
    for entry in properties.member("mountVolumes", "azureBlobFileSystems").each():
        if same_mount_path(entry.member("relativeMountPath").value, DROP_MOUNT):
            is_own = account is None or entry.member("accountName").value in (None, account)
            return is_own and (container is None or entry.member("containerName").value == container)
    return False


def same_mount_path(text: Any, path: str) -> bool:
    """Whether a relativeMountPath, as written, is this one."""
    return isinstance(text, str) and text.strip("/") == path


def _runnable(properties: Node) -> list[Node]:
    """The texts that are run or name what is run: those of the toolkit and of the preparation."""
    blocks = [properties.member(name) for name in (*TOOLKITS, "jobPreparation")]
    return [node for block in blocks for node in walk_below(block) if isinstance(node.value, str)]


def walk_below(block: Node) -> list[Node]:
    """The members of one flat block."""
    return [block.member(key) for key in block.value] if isinstance(block.value, dict) else []
