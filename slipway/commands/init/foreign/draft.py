"""What is known of a job while the file of another system is read, and what has no counterpart."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.jobspec import redact
from slipway.commands.init.foreign.yaml_tree import Member
from slipway.failure import Failure
from slipway.terminal.characters import printable

#: `unknown`: not a member of that format; `none`: without a counterpart; `secret`: a value that was not
#: copied; `changed`: translated, and worth a look.
NoteKind = Literal["unknown", "none", "secret", "changed"]
#: What is said of a member that the format does not have.
UNKNOWN = "not a member of this format; it was left out"
#: What of a text is shown.
_SHOWN = 120
#: No number of these files is higher.
_MOST = 1_000_000_000
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
#: Labels of a job, and the characters of a name and of a value.
_LABELS, _LABEL_NAME, _LABEL_VALUE = 20, 64, 256


@dataclass(frozen=True)
class Note:
    """What a person has to know of a member of the file."""

    line: int
    member: str
    kind: NoteKind
    text: str


@dataclass
class JobDraft:
    """The job as far as it has been read."""

    file: str
    name: str = ""
    experiment: str = ""
    nodes: int = 1
    #: whether each node runs the command, or the first one only
    on_every_node: bool = False
    #: whether `mpirun` starts the command, and its processes
    with_mpi: bool = False
    processes: int | None = None
    #: the text of the command, the shell for it, and the lines that come first
    run: str = ""
    shell: str = "bash"
    before: list[str] = field(default_factory=list)
    #: the text that prepares a node, or the list of packages that it installs
    setup: str = ""
    packages: str = ""
    #: the command line, where a file of the folder runs as it is
    command: str = ""
    properties: dict[str, Any] = field(default_factory=dict)
    container: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    mounts: list[dict[str, str]] = field(default_factory=list)
    inputs: list[dict[str, str]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    retry: dict[str, int] = field(default_factory=dict)
    resources: dict[str, Any] = field(default_factory=dict)
    #: what counts for all nodes or tasks, until their numbers are known
    whole: dict[str, Member] = field(default_factory=dict)
    #: the folder of the code, as seen from that of the file
    folder: str = "."
    #: more files for that folder
    files: dict[str, str] = field(default_factory=dict)
    #: what these are called in the job's folder → files beside that of the other system
    copies: dict[str, str] = field(default_factory=dict)
    #: what stands for `inputs.NAME` and `outputs.NAME` in the command
    bindings: dict[str, str] = field(default_factory=dict)
    #: options of `slipway run` that a person adds: `--secret HF_TOKEN`
    options: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def note(self, member: Member, kind: NoteKind, text: str) -> None:
        """Keep what a person has to know of a member."""
        self.notes.append(Note(member.line, shown(member.path), kind, text))

    def variable(self, member: Member, name: str, value: str | None) -> None:
        """Take a variable of the job; a secret is named, and its value stays in the file."""
        self.check_name(member, name)
        variable = {"name": name, "value": value or "it"}
        if redact(variable) != variable:
            self.secret(member, name)
        elif value is None:
            self.ask(f"--env {name}")
            self.note(member, "changed", f"has no value; it comes from your shell: slipway run --env {name}")
        else:
            self.environment[name] = value

    def secret(self, member: Member, name: str) -> None:
        """Name a secret of the file, whose value is not copied."""
        self.check_name(member, name)
        self.ask(f"--secret {name}")
        self.note(member, "secret", f"not copied; set it in your shell: slipway run --secret {name}")

    def check_name(self, member: Member, name: str) -> None:
        """Raise Failure for what is not the name of a variable: a person copies it into a command."""
        if not _VARIABLE.fullmatch(name):
            what = f"{shown(name)} is not the name of a variable"
            raise Failure(f"{self.file}:{member.line}: {what}; it has letters, digits and _")

    def ask(self, option: str) -> None:
        """Keep an option of `slipway run` for the person."""
        if option not in self.options:
            self.options.append(option)

    def script(self, member: Member, text: str) -> str:
        """The text of a command, without the secrets that it has."""
        safe = str(redact({"commandLine": text})["commandLine"])
        if safe != text:
            self.note(member, "secret", "a secret in its text was replaced by ***; give it as a variable")
        return safe

    def label(self, member: Member, name: str, value: str) -> None:
        """Take a label, if a job here can have it."""
        if len(name) > _LABEL_NAME or len(value) > _LABEL_VALUE or len(self.labels) >= _LABELS or not name:
            self.note(member, "none", f"a job has {_LABELS} labels of {_LABEL_VALUE} characters at most")
        elif redact({name: value, "value": value}) != {name: value, "value": value}:
            self.note(member, "secret", "looks like a secret, and a label is readable; not copied")
        else:
            self.labels[name] = value


def shown(text: str) -> str:
    """The beginning of a text of the file, for a person, without a secret."""
    return printable(str(redact({"value": text})["value"]))[:_SHOWN]


#: What is done with a member of a format.
Rule = Callable[[Member, JobDraft], None]


def absent(text: str) -> Rule:
    """The rule for a member without a counterpart; the text says what to do instead."""

    def rule(member: Member, draft: JobDraft) -> None:
        draft.note(member, "none", text)

    return rule


def is_read(member: Member, draft: JobDraft) -> None:
    """The rule for a member that says which file this is."""


def apply(rules: Mapping[str, Rule], member: Member, draft: JobDraft, place: str = "") -> None:
    """Follow the rule of each member of an object; those without a rule are named as unknown.

    `place` is the object's own path in the rules, in which `*` stands for any name.
    """
    for name, one in member.members.items():
        path = next((path for path in _paths(place, name) if _is_in(rules, path)), "")
        deeper = any(rule.startswith(f"{path}.") for rule in rules) if path else False
        if deeper and one.kind == "object":
            apply(rules, one, draft, path)
        elif path in rules:
            rules[path](one, draft)
        elif path and one.text is not None and one.value is None:
            pass  # an object without members
        elif path:
            raise wrong(one, draft, "an object")
        else:
            draft.note(one, "unknown", UNKNOWN)


def _paths(place: str, name: str) -> list[str]:
    begin = f"{place}." if place else ""
    return [f"{begin}{name}", f"{begin}*"]


def _is_in(rules: Mapping[str, Rule], path: str) -> bool:
    return path in rules or any(rule.startswith(f"{path}.") for rule in rules)


def wrong(member: Member, draft: JobDraft, kind: str) -> Failure:
    """The failure for a member of another type."""
    text = f", not {shown(member.text)}" if member.text else ""
    return Failure(f"{draft.file}:{member.line}: {printable(member.path)} is {kind}{text}")


def text_of(member: Member, draft: JobDraft) -> str:
    """The text of a single value. Raises Failure for a list or an object, and where it is missing."""
    if member.text is None or member.value is None:
        raise wrong(member, draft, "a text")
    return member.text


def count_of(member: Member, draft: JobDraft) -> int:
    """A whole number from 1. Raises Failure for anything else."""
    value = member.value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
        raise wrong(member, draft, f"a whole number from 1 to {_MOST:,}")
    return value
