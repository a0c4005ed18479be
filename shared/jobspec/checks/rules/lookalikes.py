"""Letters and blanks that only look like the right ones, in texts that a program reads."""

from __future__ import annotations

from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.file_names import character_flaw
from shared.jobspec.text.lookalikes import (
    DASHES,
    MARKS,
    QUOTES,
    SPACES,
    beside_ascii,
    character_name,
    hidden_character,
    latin,
    mixed,
)
from shared.jobspec.text.shell import QUOTED, words
from shared.jobspec.text.tree import Node

#: Members of mounts that are names.
_OF_MOUNTS = ("relativeMountPath", "accountName", "containerName", "azureFileUrl")
#: Members of the job that are names.
_OF_JOB = (
    ("cluster", "id"),
    ("schedulingPriority",),
    ("containerSettings", "imageSourceRegistry", "image"),
    ("containerSettings", "imageSourceRegistry", "serverUrl"),
    ("constraints", "maxWallClockTime"),
)
#: Characters that are not letters to a shell, and in a path.
_OF_SHELLS, _OF_PATHS = frozenset(";|&$<>()`'\"/\\="), frozenset("/$")
_LISTS = ("inputDirectories", "outputDirectories", "environmentVariables", "secrets")


@only_if(lambda context: not context.text.isascii())
def lookalikes(context: Context) -> Iterator[Problem]:
    """Paths, names and commands; the values of variables are not checked."""
    commands = context.commands
    for node in _names(context):
        yield from _problems(node, in_command=False, ascii_only=True)
    for node in (*context.files, *context.inputs, *context.prefixes):
        yield from _problems(node, in_command=False)
    for node in commands:
        yield from _problems(node, in_command=True)


def _names(context: Context) -> Iterator[Node]:
    yield from (context.properties.member(*names) for names in _OF_JOB)
    yield from (mount.member(name) for mount in context.mounts() for name in _OF_MOUNTS)
    for listed in _LISTS:
        for entry in context.properties.member(listed).each():
            yield from (entry.member("id"), entry.member("name"))
    for block in context.toolkits:
        yield from (block.member("languageType"), block.member("communicationBackend"))


def _problems(node: Node, *, in_command: bool, ascii_only: bool = False) -> Iterator[Problem]:
    text = node.text or ""
    for one in dict.fromkeys("" if text.isascii() else text):
        may_be_named = not (_separates(text, one) if in_command else character_flaw(one))
        if one in SPACES and not ascii_only and may_be_named:
            # Part of a name: a file may be called so.
            message = f"the character {character_name(one)} only looks like a space"
            remedy = "write an ordinary space, unless the name has this one"
            yield problem("SW089", node.pointer, message, remedy, "warning", piece=one)
        elif one in SPACES:
            message = f"the text has the character {character_name(one)} in place of a space"
            yield _swapped("SW007", node, one, " ", message, "write an ordinary space")
        elif in_command and one in QUOTES:
            # No fix: a plain quote in place of an apostrophe would open a string.
            message = (
                f"the text has the character {character_name(one)}, which a shell does not read as a quote"
            )
            yield problem("SW089", node.pointer, message, f"write {QUOTES[one]}", "warning", piece=one)
        elif in_command and one in DASHES:
            message = f"the text has the character {character_name(one)}, which does not start an option"
            yield problem("SW089", node.pointer, message, 'write "-" or "--"', "warning", piece=one)
        elif MARKS.get(one, " ") in (_OF_SHELLS if in_command else _OF_PATHS) and beside_ascii(text, one):
            message = f'the character {character_name(one)} only looks like "{MARKS[one]}"'
            yield problem("SW089", node.pointer, message, f"write {MARKS[one]}", "warning", piece=one)
    if unseen := hidden_character(text):
        message = f"the text contains the character {character_name(unseen)}, which cannot be seen"
        yield _swapped("SW007", node, unseen, "", message, "delete it")
    if letter := mixed(text, ascii_only=ascii_only):
        right = latin(letter)
        message = f'the letter {character_name(letter)} only looks like "{right}"'
        remedy = f'write the Latin letter "{right}"'
        yield _swapped("SW089", node, letter, right, message, remedy, warning=in_command)


def _separates(command: str, space: str) -> bool:
    """Whether a blank stands outside quotes, where a person meant to end a word, and the shell does not."""
    return any(
        mark != QUOTED
        for word in words(command)
        for character, mark in zip(word.text, word.marks, strict=True)
        if character == space
    )


def _swapped(
    code: str, node: Node, one: str, other: str, message: str, remedy: str, *, warning: bool = False
) -> Problem:
    fix = Fix("swap", node.pointer, other, (one,))
    return problem(code, node.pointer, message, remedy, "warning" if warning else None, piece=one, fix=fix)
