"""Placeholders for dropped files: what they stand for, and why a name cannot be filled in."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from shared.jobspec.format.drop_paths import DROP_MOUNT, JOB_MOUNT_ROOT, PATH_FIELDS
from shared.jobspec.text.file_names import level_flaw, name_flaw
from shared.jobspec.text.lookalikes import character_name
from shared.jobspec.text.tree import JsonObject, walk

#: The files for which a template without a pattern of its own runs.
DEFAULT_PATTERN = "*.py"
_SCRIPT = re.compile(r"<SLIPWAY_SCRIPT(?::([^<>:/\s]{1,64}))?>")
_FOLDER = "<SLIPWAY_FOLDER>"
_LONGEST_PATH = 1024
#: What a path in a field may not have: the beginning of a variable, and what a placeholder looks like.
_MISREAD = re.compile(
    r"[$<>]|\{\{|%(?=(?:\([A-Za-z_]\w{0,63}\))?[sd](?![A-Za-z0-9]))|\[(?=(?:[Yy]our|YOUR)[ _-])", re.ASCII
)


class Unfilled(NamedTuple):
    """The name of a dropped folder or file, and what keeps it out of a member of the job; "" if nothing."""

    name: str
    flaw: str


def script_pattern(document: JsonObject | None) -> str | None:
    """The first pattern of files in a template, or the default; None if the document is not a template."""
    template = False
    for node in walk(document):
        match = _SCRIPT.search(node.value) if isinstance(node.value, str) else None
        if match and match[1]:
            return match[1]
        template = template or bool(match)
    return DEFAULT_PATTERN if template else None


def with_script(text: str, *, script: str | None, folder: str | None, member: str) -> str:
    """The text of a member with its placeholders filled in, if the names are known and can be read there."""
    top = (folder or "").strip("/")
    if placeholder_flaw(top, member):
        return text
    if folder is not None:
        text = text.replace(_FOLDER, _mounted(top))
    if script is not None and not placeholder_flaw(path := _joined(top, script), member):
        text = _SCRIPT.sub(lambda _: _mounted(path), text)
    return text


def has_script_placeholder(text: str) -> bool:
    """Whether `with_script` may have something to fill in."""
    return _FOLDER in text or bool(_SCRIPT.search(text))


def plain_path(path: str) -> str | None:
    """The path if it is safe in a command line and stays below its root, else None."""
    path = path.strip("/")
    return path if path and not placeholder_flaw(path, "") else None


def placeholder_flaw(path: str, member: str) -> str:
    """Why a member of a job cannot hold the path below the mount; "" if it can."""
    if len(path) > _LONGEST_PATH:
        return f"has {len(path)} characters; {_LONGEST_PATH} are allowed"
    if not path or (flaw := name_flaw(path) or level_flaw(path)):
        return flaw if path else ""
    if member in PATH_FIELDS:
        match = _MISREAD.search(path)
        why = "which begins a variable" if match and match[0] == "$" else "which is read as a placeholder"
        return f"has {_shown(match[0][0])}, {why}" if match else ""
    strange = next((one for one in path if one != "/" and not _is_plain(one)), "")
    strange = strange or next((level[0] for level in path.split("/") if level[0] in "-."), "")
    return f"has {_shown(strange)}, which no command line takes unquoted" if strange else ""


def unfilled(text: str, member: str, *, script: str | None, folder: str | None) -> Unfilled | None:
    """The dropped name that a placeholder in this text stands for, if one is known."""
    top = (folder or "").strip("/")
    name = _joined(top, script) if script is not None and _SCRIPT.search(text) else top
    if not name or not has_script_placeholder(text):
        return None
    return Unfilled(name, placeholder_flaw(top, member) or placeholder_flaw(name, member))


def _is_plain(character: str) -> bool:
    """Whether a character has no meaning in a shell: letters of any language, and a few marks."""
    return character.isalnum() or character in "_.-" or unicodedata.category(character)[0] == "M"


def _shown(character: str) -> str:
    return "a space" if character == " " else f"the character {character_name(character)}"


def _joined(top: str, script: str) -> str:
    return f"{top}/{script}" if top else script


def _mounted(path: str) -> str:
    return f"{JOB_MOUNT_ROOT}/{DROP_MOUNT}/{path}" if path else f"{JOB_MOUNT_ROOT}/{DROP_MOUNT}"
