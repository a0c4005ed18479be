"""`slipway init --from FILE`: which system a file is of, and the files of the same job here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.jobspec import Source, has_errors, redact, walk
from slipway.client.request.compose import OUTPUT
from slipway.client.request.diagnose import diagnosed
from slipway.commands.init.foreign import azure_ml, dstack, sbatch, sky
from slipway.commands.init.foreign.compose import files_of
from slipway.commands.init.foreign.draft import JobDraft, Note, shown
from slipway.commands.init.foreign.yaml_tree import LONGEST, Member, decoded, tree
from slipway.failure import REJECTED, Failure
from slipway.terminal.characters import printable

_DSTACK = ("task", "service", "dev-environment", "fleet", "gateway", "volume", "preset")
_OF_AZURE = ("command", "component", "trial", "jobs")
_OF_SKY = ("run", "setup", "resources", "num_nodes", "workdir", "file_mounts", "envs")
#: Stands for the folder of the job: what is beside it is of no concern.
_NOWHERE = Path("/translated")
_FORMATS = "a task of SkyPilot or dstack, a command job of Azure ML, or a script for sbatch"


#: The system whose file runs as it is.
SCRIPT = "a script for sbatch"


@dataclass(frozen=True)
class Translation:
    """The files of a job, for a folder of their own or that of the code, and what a person has to know."""

    system: str
    #: the folder of the code
    folder: Path
    files: Mapping[str, str]
    #: options of `slipway run` that it needs
    options: tuple[str, ...]
    #: the name of its first output directory
    output: str
    notes: tuple[Note, ...]


def translate(file: Path) -> Translation:
    """The job of a file. Raises Failure with the place of what cannot be read."""
    try:
        with file.open("rb") as opened:
            data = opened.read(LONGEST + 1)
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}; {_FORMATS} was expected") from error
    name = printable(str(file))
    text, draft = decoded(data, name), JobDraft(name)
    if sbatch.is_script(text):
        system = SCRIPT
        sbatch.read(text, draft)
    else:
        system = _read_yaml(tree(text, name), draft)
    folder = _folder(file.parent, draft)
    for copy, source in draft.copies.items():
        draft.files[copy] = _text_beside(file.parent, source, draft)
    files = files_of(draft)
    _check(files, name)
    # A stable order: those of one line in the order in which they were met.
    notes = tuple(sorted(draft.notes, key=lambda note: note.line))
    output = (draft.outputs or [OUTPUT])[0]
    return Translation(system, folder, files, tuple(draft.options), output, notes)


def _read_yaml(root: Member, draft: JobDraft) -> str:
    """The name of the system whose file it is."""
    members = root.members
    kind = members["type"].text or "" if "type" in members else ""
    schema = members["$schema"].text or "" if "$schema" in members else ""
    if kind in _DSTACK and "$schema" not in members:
        _only("task", kind, root, draft)
        dstack.read(root, draft)
        return "a task of dstack"
    if "azureml" in schema or (members.keys() & set(_OF_AZURE) and not members.keys() & {"run", "commands"}):
        _only("command", kind or "command", root, draft)
        azure_ml.read(root, draft)
        return "a command job of Azure ML"
    if members.keys() & set(_OF_SKY):
        sky.read(root, draft)
        return "a task of SkyPilot"
    raise Failure(f"{draft.file}: is not {_FORMATS}", REJECTED)


def _only(name: str, kind: str, root: Member, draft: JobDraft) -> None:
    if kind != name:
        line = root.members["type"].line if "type" in root.members else 1
        what = f"has the type {shown(kind)}; only {name} is a job here"
        raise Failure(f"{draft.file}:{line}: {what}", REJECTED)


def _folder(beside: Path, draft: JobDraft) -> Path:
    """The folder of the code: that of the file, or one below it, and no other folder of this machine."""
    folder = beside / draft.folder
    try:
        is_below = folder.resolve().is_relative_to(beside.resolve()) and folder.is_dir()
    except (OSError, ValueError):
        is_below = False
    if is_below:
        return folder
    advice = f"is not a folder beside {draft.file}; copy what is written into the folder of your code"
    draft.notes.append(Note(1, shown(draft.folder), "none", advice))
    return beside


def _text_beside(folder: Path, name: str, draft: JobDraft) -> str:
    """The text of a file that the other one names, in its folder or below."""
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            what = f"names {shown(name)}, which is in another folder"
            raise Failure(f"{draft.file}: {what}; copy it into this one")
        with path.open("rb") as opened:
            return decoded(opened.read(LONGEST + 1), printable(str(path)))
    except (OSError, ValueError) as error:
        raise Failure(f"{draft.file}: names {shown(name)}, which cannot be read") from error


def _check(files: Mapping[str, str], name: str) -> None:
    """Raise Failure for what no job here can have: nothing that is refused later is written."""
    for file in ("job.json", "slipway.json"):
        if file not in files:
            continue
        place = _secret_place(json.loads(files[file]))
        if place:
            raise Failure(
                f"{name}: {place} would have a secret; set it in your shell, as a variable", REJECTED
            )
        problems = diagnosed(Source(files[file].encode()), _NOWHERE / file)
        if has_errors(problems):
            first = next(one for one in problems if one.severity == "error")
            raise Failure(f"{name}: cannot be a job here: {first.pointer}: {first.message}", REJECTED)


def _secret_place(document: Any) -> str:
    """Where a document has a secret; "" for nowhere."""
    for node, safe in zip(walk(document), walk(redact(document)), strict=True):
        if isinstance(node.value, str) and node.value != safe.value:
            return node.pointer
    return ""
