"""A job.json that a folder has: what it says is sent, with the paths of its files where nodes unpack them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

from shared.jobspec import (
    is_bare_job,
    mounts_scripts,
    names_mounted_scripts,
    placeholder_flaw,
    script_pattern,
)
from slipway.client.request.compose import PATH_FIELD, Choices, add_choices
from slipway.client.request.diagnose import scripts_named
from slipway.client.snapshot.choose import by_name, choose
from slipway.client.snapshot.walk import Tree
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import printable

JOB_FILE, ENVELOPE_FILE = "job.json", "slipway.json"
#: What stands for the folder and for the script, and what names the folder of the drop container.
_FOLDER, _SCRIPT, _MOUNT = "<SLIPWAY_FOLDER>", "<SLIPWAY_SCRIPT", "AZ_BATCHAI_JOB_MOUNT_ROOT"
_DROPS = "scripts"
#: Members of a slipway.json that speak of the drop itself.
_OF_DROPS = ("needs",)


@dataclass(frozen=True)
class OwnJob:
    """A job, the envelope around or beside it, and where its document looks for its files."""

    job: dict[str, Any]
    envelope: Mapping[str, Any]
    #: "" for the working directory
    place: str

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The job of a folder. Raises Failure for an event, and for what is not a job."""
        document, beside = _object(folder / JOB_FILE), folder / ENVELOPE_FILE
        envelope = _object(beside) if beside.is_file() else {}
        job: Any = document
        if not is_bare_job(document):
            envelope, job = {**document, **envelope}, document.get("spec")
        if "specversion" in envelope or not isinstance(job, dict):
            file = folder / JOB_FILE
            raise Failure(f"{file} is an event, or has no job in it; send it by slipway submit {file}")
        envelope = {name: value for name, value in envelope.items() if name not in (*_OF_DROPS, "spec")}
        return cls(job, envelope, _place(folder, job))

    def document(self, tree: Tree, script: str, choices: Choices) -> dict[str, Any]:
        """The job with these choices, and with the paths of its files. Raises Failure."""
        pattern = script_pattern(self.job)
        if script and pattern is None:
            raise Failure(f"--script: {tree.folder / JOB_FILE} says what runs; change it there", USAGE)
        if pattern is not None:
            fitting = [one for one in by_name(tree).values() if script or fnmatchcase(one.name, pattern)]
            script = choose(Tree(tree.folder, fitting), script).script
        document: dict[str, Any] = filled(add_choices(self.job, choices), script, self.place)
        return document


def filled(node: Any, script: str = "", place: str = "") -> Any:
    """The document with the paths of its files, which a placeholder begins. Raises Failure."""
    folder = f"${_MOUNT}/{place}" if place else "."
    return _filled(node, script, folder, "")


def _filled(node: Any, script: str, folder: str, member: str) -> Any:
    if isinstance(node, dict):
        return {name: _filled(value, script, folder, str(name)) for name, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, script, folder, member) for value in node]
    if not isinstance(node, str) or "<SLIPWAY_" not in node:
        return _no_option(node, member) if isinstance(node, str) else node
    if _SCRIPT in node:
        if flaw := placeholder_flaw(script, member):
            raise Failure(f"{printable(script)} cannot be a part of {member}: it {flaw}; rename the script")
        begin, _, rest = node.partition(_SCRIPT)
        node = f"{begin}{_FOLDER}/{script}{rest.partition('>')[2]}"
    if member == PATH_FIELD and folder == ".":
        node = node.replace(f"{_FOLDER}/", "")
    return _no_option(node.replace(_FOLDER, folder), member)


def _no_option(text: str, member: str) -> str:
    """The text; Python would take a script whose name begins with a dash for an option."""
    return f"./{text}" if member == PATH_FIELD and text.startswith("-") else text


def _place(folder: Path, document: Mapping[str, Any]) -> str:
    """The folder below the mounts of the job in which the document looks for its files; "" if in none."""
    if mounts_scripts({**document}) or not any(
        f"{_MOUNT}/{_DROPS}" in text.replace("}", "") for text in _texts(document)
    ):
        return ""
    own = folder.resolve().name
    for name in scripts_named(folder / JOB_FILE, own):
        levels = name.split("/")
        for count in range(1, len(levels)):
            if (folder / "/".join(levels[count:])).is_file():
                return "/".join([_DROPS, *levels[:count]])
    return f"{_DROPS}/{own}"


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            yield from _texts(value)


def _object(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Failure(f"{file} is not a JSON object; correct it: slipway validate {file}")
    return document


def has_its_script(file: Path) -> bool:
    """Whether it is a job.json, no template, that runs a script which lies beside it."""
    if file.name != JOB_FILE or not file.is_file():
        return False
    try:
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False  # its refusal gives the reason
    if not is_bare_job(document) or script_pattern(document) is not None or names_mounted_scripts(document):
        return False  # the last one mounts what it runs
    folder = file.resolve().parent
    own = f"{folder.name}/"
    scripts = [name for name in scripts_named(file, folder.name) if name.startswith(own)]
    return any((folder / name.removeprefix(own)).is_file() for name in scripts)
