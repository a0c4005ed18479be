"""Scripts in the drop container: placeholders for them, and which ones a job needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.text.tree import JsonObject, Node, walk

JOB_MOUNT_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
#: Where the drop container appears, below the job's mount root.
DROP_MOUNT = "scripts"
#: The files for which a template without a pattern of its own runs.
DEFAULT_PATTERN = "*.py"

_SCRIPT = re.compile(r"<SLIPWAY_SCRIPT(?::([^<>:/\s]{1,64}))?>")
_FOLDER = "<SLIPWAY_FOLDER>"
#: Names become part of shell command lines, so they have no characters that are special in a shell.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*", re.ASCII)
_LONGEST_PATH = 1024
#: A file of a command line is recognised by its suffix; a name without one may be a directory.
_FILE = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$", re.ASCII)
#: The path of a file below the mount of the drop container, as command lines and fields write it.
_IN_DROPS = re.compile(
    rf"(?<!>)(?<!> )\$(?:AZ_BATCHAI_JOB_MOUNT_ROOT|\{{AZ_BATCHAI_JOB_MOUNT_ROOT\}})/{DROP_MOUNT}/"
    r"([A-Za-z0-9_./-]{1,1024})(?![A-Za-z0-9_./*?$\[-])"
)
_PATH_FIELDS = ("pythonScriptFilePath", "configFilePath")


def script_pattern(document: JsonObject | None) -> str | None:
    """The first pattern of files in a template, or the default; None if the document is not a template."""
    template = False
    for node in walk(document):
        match = _SCRIPT.search(node.value) if isinstance(node.value, str) else None
        if match and match[1]:
            return match[1]
        template = template or bool(match)
    return DEFAULT_PATTERN if template else None


def with_script(text: str, *, script: str | None, folder: str | None) -> str:
    """The text with its placeholders filled in, if the names are known and plain."""
    top = (folder or "").strip("/")
    below = plain_path(top) if top else ""
    if folder is not None and below is not None:
        text = text.replace(_FOLDER, _mounted(below))
    if script is not None and below is not None and plain_path(script):
        path = _mounted(f"{below}/{script}" if below else script)
        text = _SCRIPT.sub(lambda _: path, text)
    return text


def has_script_placeholder(text: str) -> bool:
    """Whether `with_script` may have something to fill in."""
    return _FOLDER in text or bool(_SCRIPT.search(text))


def plain_path(path: str) -> str | None:
    """The path if it is safe in a command line and stays below its root, else None."""
    path = path.strip("/")
    return path if len(path) <= _LONGEST_PATH and _PLAIN_PATH.fullmatch(path) else None


def scripts_wanted(
    document: JsonObject, *, container: str | None = None, account: str | None = None
) -> tuple[str, ...]:
    """Blob names that the completed document refers to under the mount, sorted.

    Empty when the mount is not a blob container (the one named, in the account named).
    """
    properties = Node("", document).member("properties")
    return tuple(sorted({name for _, _, name in script_places(properties, container, account)}))


def script_places(
    properties: Node, container: str | None, account: str | None = None
) -> Iterator[tuple[str, str, str]]:
    """The same, each with its place: the pointer, the path as it is written there, the blob's name."""
    if not _is_drop_mount(properties, container, account):
        return
    for node in _runnable(properties):
        always = node.pointer.rpartition("/")[2] in _PATH_FIELDS
        for match in _IN_DROPS.finditer(node.value):
            path = plain_path(match[1].rstrip("."))
            if path and not match[1].endswith("/") and (always or _FILE.search(path)):
                yield node.pointer, match[0].rstrip("."), path


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


def _mounted(path: str) -> str:
    return f"{JOB_MOUNT_ROOT}/{DROP_MOUNT}/{path}" if path else f"{JOB_MOUNT_ROOT}/{DROP_MOUNT}"
