"""A batch script of Slurm, which runs as it is; its `#SBATCH` lines become the job's own words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from shared.jobspec import redact
from slipway.commands.init.foreign.compose import runs_file
from slipway.commands.init.foreign.draft import UNKNOWN, JobDraft, Note, shown
from slipway.commands.init.foreign.sbatch_options import OPTIONS, Option
from slipway.commands.init.foreign.sbatch_rules import share
from slipway.commands.init.foreign.shell_words import name_variables
from slipway.commands.init.foreign.yaml_tree import Member
from slipway.failure import Failure

_DIRECTIVE = re.compile(r"#SBATCH\b(.*)")
_LETTERS = {option.letter: name for name, option in OPTIONS.items() if option.letter}
#: Programs that only a cluster of Slurm has, or one with modules.
_PROGRAMS = {
    "srun": "only nodes of Slurm have it; elsewhere run the command itself, or by mpirun",
    "module": "only some clusters have it; an image or a list of packages has what the script needs",
}


class _Word(NamedTuple):
    """The full name of an option, or what is not one, and the value in the same word."""

    name: str
    value: str | None


def is_script(text: str) -> bool:
    """Whether a text is a script, or has lines for `sbatch`."""
    return text.startswith("#!") or re.search(r"^#SBATCH\b", text, re.MULTILINE) is not None


def read(text: str, draft: JobDraft) -> None:
    """Take the options of a script, and let it run. Raises Failure."""
    ended = False
    for number, line in enumerate(text.splitlines(), 1):
        directive = _DIRECTIVE.match(line)
        if directive and ended:
            advice = "below the first command, where sbatch does not read it"
            draft.notes.append(Note(number, "#SBATCH", "none", advice))
        elif directive:
            _read_line(directive[1], number, draft)
        elif line.strip() and not line.startswith("#"):
            ended = True
    share(draft)
    if draft.resources:
        allowed = "needs a cluster whose jobs may choose: docs/reference/engines.md#less-than-a-whole-node"
        draft.notes.append(Note(1, ", ".join(draft.resources), "changed", allowed))
    whole = Member("script", 0, text=f"\n{text}")
    if redact({"commandLine": text})["commandLine"] != text:
        advice = "its text has a secret, and it is sent as it is; use a variable: slipway run --secret NAME"
        draft.notes.append(Note(1, "script", "secret", advice))
    name_variables(draft, whole, "SLURM_", {})
    _name_programs(text, draft)
    name = PurePath(draft.file).name
    draft.files[name] = text
    runs_file(draft, name, _interpreter(text))


def _interpreter(text: str) -> list[str]:
    """The words of the first line, by which Slurm starts the script."""
    first = text.split("\n", 1)[0]
    return shlex.split(first[2:].replace("'", " ").replace('"', " ")) if first.startswith("#!") else ["bash"]


def _read_line(line: str, number: int, draft: JobDraft) -> None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise Failure(f"{draft.file}:{number}: a quote is not closed") from error
    for member, option in _options(words, number, draft):
        option.rule(member, draft)


def _options(words: list[str], number: int, draft: JobDraft) -> Iterator[tuple[Member, Option]]:
    """Each option of a line with its value; what is not one is noted."""
    rest = iter(words)
    for word in rest:
        name, value = _split(word)
        if name not in OPTIONS:
            draft.notes.append(Note(number, shown(word.partition("=")[0]), "unknown", UNKNOWN))
            continue
        option, text = OPTIONS[name], value
        if option.value == "needed" and text is None and (text := next(rest, None)) is None:
            raise Failure(f"{draft.file}:{number}: --{name} has no value")
        yield Member(f"--{name}", number, name, text, text), option


def _split(word: str) -> _Word:
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        longer = [one for one in OPTIONS if one.startswith(name)] if name else []
        return _Word(name if name in OPTIONS or len(longer) != 1 else longer[0], value if equals else None)
    if word.startswith("-") and (name := _LETTERS.get(word[1:2], "")):
        return _Word(name, word[2:].removeprefix("=") or None)
    return _Word("", None)


def _name_programs(text: str, draft: JobDraft) -> None:
    for program, advice in _PROGRAMS.items():
        if match := re.search(rf"^[ \t]*{program}[ \t]", text, re.MULTILINE):
            line = text[: match.start()].count("\n") + 1
            draft.notes.append(Note(line, program, "none", advice))
