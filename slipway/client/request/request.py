"""What `slipway run` sends: a message, made where there is no job.json, and the folder that is its code."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.jobspec import Source, has_errors, read_envelope, redact, report
from slipway.client.files.own_file import kind_of, own_file
from slipway.client.request.compose import Choices, compose
from slipway.client.request.diagnose import diagnosed
from slipway.client.request.own_job import ENVELOPE_FILE, JOB_FILE, OwnJob, filled
from slipway.client.request.packages import packages_file
from slipway.client.snapshot.choose import choose
from slipway.client.snapshot.mounted import refuse_other_code
from slipway.client.snapshot.rules import refuse_results
from slipway.client.snapshot.walk import Tree, one_file, walk
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import say

#: These files describe the job; the script does not use them.
_JOB_FILES = (JOB_FILE, ENVELOPE_FILE)
_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 64


@dataclass(frozen=True)
class Options:
    """How to run it."""

    choices: Choices
    name: str = ""
    keep: bool = False
    #: the script of the folder that runs; "" for the one that `choose` finds
    script: str = ""
    #: the values of each parameter of a sweep, and how many of its jobs may be at work at once
    sweep: Mapping[str, Any] = field(default_factory=dict)
    parallel: int | None = None
    #: whether a document with a sweep is refused
    one_job: bool = False
    #: its idempotency key; "" for that of the document, or a new one
    once: str = ""
    #: what it may cost at most; None for any amount
    max_cost: float | None = None


@dataclass(frozen=True)
class Request:
    """A message without its code, the folder that is the code, and where nodes unpack it ("": as usual)."""

    message: Mapping[str, Any]
    tree: Tree
    name: str
    at: str = ""
    #: what refusals call the document
    file: str = JOB_FILE


def request_of(path: Path, options: Options, prefix: str) -> Request:
    """The message and the code of a script or a folder; `prefix` is where output goes. Raises Failure."""
    check_path(path)
    is_folder = path.is_dir()
    if is_folder:
        refuse_results(path)
    name = options.name or plain_name((path if is_folder else path.with_suffix("")).resolve().name)
    if is_folder and own_file(path, JOB_FILE):
        return _own(path, options, name)
    tree = walk(path) if is_folder else one_file(path)
    if is_folder and own_file(path, ENVELOPE_FILE):
        say(f"{ENVELOPE_FILE} is not used: it belongs to a {JOB_FILE}, and there is none")
    if is_folder:
        script, reason = choose(tree, options.script)
        if reason:
            say(f"runs {script}, {reason} (--script names another one)")
    elif options.script:
        raise Failure(f"--script names a script of a folder, and {path} is a file", USAGE)
    else:
        script = path.name
        _warn(path)
    packages = packages_file(tree) if is_folder else ""
    document = compose(script, options.choices, prefix, packages=packages)
    folder = path if is_folder else path.parent
    _keep(folder, document, options)
    message = {**_members(options, {}), "spec": filled(document)}
    _warn_of_sweep(message)
    return Request(message, tree, name)


def check_path(path: Path) -> None:
    """Raise Failure if there is nothing to run, before anything is opened: a pipe would wait for ever."""
    if not path.exists():
        raise Failure(f"there is no {path}; name a script, or a folder with one")
    if not (path.is_file() or path.is_dir()):
        raise Failure(f"{path} is {kind_of(path)}; name a script, or a folder with one")


def plain_name(name: str) -> str:
    """A name that a job can have, for a folder with any: `My data (2)` is `My-data-2`."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _UNUSUAL.sub("-", ascii_only).strip("-_")[:_LONGEST] or "job"


def _own(folder: Path, options: Options, name: str) -> Request:
    """The request of a folder with a job.json, which the options change for this run only."""
    if options.keep:
        raise Failure(f"{folder / JOB_FILE} is there already; leave out --save")
    _check(folder)
    tree, job = walk(folder), OwnJob.read(folder)
    envelope = {**job.envelope, **_members(options, job.envelope)}
    envelope |= {"name": options.name} if options.name else {}
    message = {**envelope, "spec": job.document(tree, options.script, options.choices)}
    if options.one_job and message.get("sweep") is not None:
        raise Failure(
            f"the documents of {folder} have a sweep, which makes several jobs; submit them as one "
            "message with submit_sweep(), and the folder as its code"
        )
    refuse_other_code(message, tree)
    _warn_of_sweep(message)
    return Request(message, tree, name, job.place, str(folder / JOB_FILE))


def _check(folder: Path) -> None:
    """Raise Failure, with every problem, for documents that cannot run: then nothing is sent."""
    for file in filter(None, (own_file(folder, ENVELOPE_FILE), own_file(folder, JOB_FILE))):
        problems = diagnosed(Source(file.read_bytes()), file, code_at="work")
        if has_errors(problems):
            shown = report.text(report.problems_as_json(problems), str(file)).rstrip()
            raise Failure(f"nothing was sent, because the job cannot run\n{shown}")


def _members(options: Options, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The members of the envelope that the options set, with what it has of them."""
    members = options.choices.with_envelope(envelope)
    if options.sweep:
        members["sweep"] = dict(options.sweep)
        members |= {"parallel": options.parallel} if options.parallel else {}
    elif options.parallel:
        raise Failure("--parallel belongs to --sweep NAME=VALUE,VALUE", USAGE)
    return members


def _warn_of_sweep(message: Mapping[str, Any]) -> None:
    """Say what of a sweep may be a mistake: its jobs run, and no record of theirs has it."""
    if message.get("sweep") is None:
        return
    for one in read_envelope({**message}).problems:
        if one.severity != "error":
            say(f"{one.severity} {one.code}: {one.message}; {one.remedy}")


def _warn(script: Path) -> None:
    """Warn of files that a script needs and that are not sent with it."""
    if names := _left_behind(script):
        say(
            f"only {script.name} is sent, and it names {', '.join(names)} beside it; for the whole folder: "
            f"slipway run --script {shlex.quote(script.name)} {shlex.quote(str(script.parent))}"
        )


def _left_behind(script: Path) -> list[str]:
    """The files beside a script that it names or imports, which are not uploaded with the script alone."""
    text = script.read_text(encoding="utf-8", errors="replace")
    return sorted(
        path.name
        for path in script.parent.iterdir()
        if path != script and path.suffix and path.name not in _JOB_FILES
        if path.is_file() and _names(text, path)
    )


def _names(text: str, path: Path) -> bool:
    """Whether a script contains the name of a file, or imports it."""
    imported = rf"^\s*(?:from|import)\s+{re.escape(path.stem)}\b" if path.suffix == ".py" else r"(?!)"
    name = rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])"
    return bool(re.search(imported, text, re.MULTILINE) or re.search(name, text))


def _keep(folder: Path, document: Mapping[str, Any], options: Options) -> None:
    """Show the made document, or write it beside the script. Raises Failure for a secret, or one there."""
    text, shown = (json.dumps(one, indent=2) + "\n" for one in (document, redact(document)))
    if not options.keep:
        say(f"made this job.json (--save keeps it):\n{shown.rstrip()}")
        return
    if text != shown:
        raise Failure(
            "--save would write a secret into job.json; leave out --save, or save the job without it and "
            "give it at each run: slipway run --secret NAME"
        )
    _write(folder / JOB_FILE, text)
    if members := options.choices.envelope:
        _write(folder / ENVELOPE_FILE, json.dumps(members, indent=2) + "\n")


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Failure(f"{file} is there already; run its folder, or leave out --save") from None
    say(f"wrote {file}")
