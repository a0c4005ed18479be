"""Scripts in the drop container: which ones a job needs."""

from __future__ import annotations

import re
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
from shared.jobspec.text.tree import JsonObject, Node, words

#: What this field names may be a part of a directory that is used as a whole.
_INTERPRETER = "pythonInterpreterPath"
#: `scripts` as a level of a path, in a text that names where the mounts of the job are; or that place itself,
#: of which another text may name a part.
_SCRIPTS = re.compile(
    rf"AZ_BATCHAI_JOB_MOUNT_ROOT\b(?:.*(?<![\w.-]){DROP_MOUNT}(?![\w.-])|\}}?/?$)", re.ASCII | re.DOTALL
)


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


def names_mounted_scripts(document: JsonObject) -> bool:
    """Whether a document names `scripts` below the mounts of the job, and mounts something there."""
    if not mounts_scripts(document):
        return False
    others = {name: value for name, value in document["properties"].items() if name != "mountVolumes"}
    return any(_SCRIPTS.search(text) for text in words(others).texts)


def mounts_scripts(document: JsonObject) -> bool:
    """Whether the document mounts something of any kind at `scripts`, or below it."""
    volumes = Node("", document).member("properties", "mountVolumes")
    mounts = (mount for kind in MOUNT_LISTS for mount in volumes.member(kind).each())
    paths = (mount.member("relativeMountPath").value for mount in mounts)
    return any(same_mount_path(path.partition("/")[0], DROP_MOUNT) for path in paths if isinstance(path, str))


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
