"""`slipway` as a group: its help shows the commands by what people come for, and it takes no empty words.

The types of its context are private to typer.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from slipway.failure import Usage
from slipway.terminal.characters import printable

#: The headings, in the order in which people come to them: those of the first are all that a first job needs.
GROUPS = {
    "First": ("login", "init", "run", "jobs", "show", "log", "download", "cancel"),
    "Send jobs": ("submit", "drop", "enqueue", "rerun", "data", "validate", "explain"),
    "Look at jobs": (
        *("overview", "wait", "metrics", "tensorboard", "sweep", "costs", "files", "cat", "code", "receipt"),
        *("shell", "forward", "ssh-config", "release", "priority", "support"),
    ),
    "Operate a deployment": (
        *("doctor", "nodes", "teams", "pause", "resume", "trail", "audit", "events", "dead", "prices"),
        *("backup", "setup"),
    ),
    "Local stack": ("up", "demo", "preempt", "az-env", "emulate"),
    "The command itself": ("logout", "skill", "mcp", "completion", "version"),
}


#: Words of other systems, and what they are here.
ELSEWHERE = {
    **dict.fromkeys(("ssh", "attach", "exec"), "shell"),
    "logs": "log",
    **dict.fromkeys(("ps", "list", "ls", "queue"), "jobs"),
    **dict.fromkeys(("status", "describe"), "show"),
    "top": "metrics",
    **dict.fromkeys(("stop", "kill", "delete"), "cancel"),
    "port-forward": "forward",
}
#: What is wrong with the words of a command line: an exception of click, or of typer's own copy.
_MISTAKE: Any = typer.BadParameter.__mro__[2]
#: Options whose value may be empty, as that of a variable that is not set.
_MAY_BE_EMPTY = ("--url", "--key", "--profile", "--reason", "--grep", "--rules-url")


def refuse_empty_words(words: Sequence[str]) -> None:
    """Raise BadParameter for an argument or a value that is empty: a path would mean the current directory.

    What follows `--` belongs to a script.
    """
    option = ""
    for word in words:
        if word == "--":
            return
        name, equals, value = word.partition("=")
        written = equals and name.startswith("--") and not value.strip()
        if (written and name not in _MAY_BE_EMPTY) or (not word.strip() and option not in _MAY_BE_EMPTY):
            what = (
                name if written else f"the word after {option}" if option.startswith("-") else "an argument"
            )
            raise typer.BadParameter(f"{what} is empty. Give it a value, or leave it out.")
        option = word


def teaching(usual: str) -> type[TyperGroup]:
    """A group that, for what is none of its commands, says how its usual command takes it."""

    class Teaching(TyperGroup):
        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
                ctx.fail(
                    f"{printable(args[0])} is not a command of `{ctx.command_path}`; "
                    f"did you mean `{ctx.command_path} {usual} {printable(shlex.join(args))}`?"
                )
            return super().resolve_command(ctx, args)

    return Teaching


class Grouped(TyperGroup):
    """A group whose help shows its commands under headings."""

    def main(self, *args: Any, **how: Any) -> Any:
        """Run the command; where typer does not print a mistake in its words itself, that is a Failure."""
        try:
            return super().main(*args, **how)
        except _MISTAKE as mistake:
            command = mistake.ctx.command_path if getattr(mistake, "ctx", None) else "slipway"
            remedy = f"{command} --help"
            raise Usage(f"{mistake.format_message().rstrip('.')}; {remedy}", remedy=remedy) from mistake

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse empty words, of any command, before anything is done."""
        refuse_empty_words(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name the command of ours for the word that other systems have."""
        if self.get_command(ctx, args[0]) is None and args[0] in ELSEWHERE:
            ours = shlex.join([*ELSEWHERE[args[0]].split(), *args[1:]])
            ctx.fail(f"{args[0]} is not a command of `slipway`; did you mean `slipway {printable(ours)}`?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each heading; the sentences stand below each other in all of them."""
        width = max(map(len, self.commands))
        for title, names in GROUPS.items():
            with formatter.section(title):
                limit = formatter.width - 6 - width
                rows = [
                    (name.ljust(width), self.commands[name].get_short_help_str(limit))
                    for name in names
                    if name in self.commands
                ]
                formatter.write_dl(rows)
