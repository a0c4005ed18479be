"""The `slipway` command. Each subcommand is imported when it is called, so that help and errors are quick."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from slipway.commands.help_groups import Grouped
from slipway.commands.options import Json
from slipway.ending import exit_code
from slipway.terminal.screen import put, put_json

_PURPOSE = """Run scripts and batch jobs on a cluster: send them, follow them, fetch what they wrote.

First: slipway login URL, then slipway run FOLDER.
"""
app = typer.Typer(
    name="slipway",
    cls=Grouped,
    help=_PURPOSE,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


#: The commands, in the order of docs/reference/cli.md; one with more than a file has a room.
COMMANDS = (
    *("submit.command", "overview", "jobs.command", "show", "wait", "cancel.command", "release.command"),
    *("rerun.command", "pause", "priority.command", "shell.command", "forward.command", "ssh_config.command"),
    *("files.command", "download.command", "cat.command", "log.command", "metrics.command", "code.command"),
    "tensorboard.command",
    *("run.command", "drop.command", "enqueue.command", "validate.command", "init.command"),
    *("explain.command", "events", "dead", "sweep.command", "costs", "prices.command", "teams.command"),
    *("support.command", "trail", "nodes", "audit", "data.command", "login.command", "doctor.command"),
    *("backup.command", "up", "setup", "preempt.command", "az_env", "emulate", "skill.command"),
    *("mcp.command", "completion"),
)
for command in COMMANDS:
    app.add_typer(import_module(f"slipway.commands.{command}").app)


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and its exit code."""
    # What the terminal's encoding does not have is written as standard error writes it, not refused.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(exit_code(app, sys.argv[1:]))


def _print_version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


@app.callback()
def slipway(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="profile of `slipway login`, instead of the current one")
    ] = "",
) -> None:
    """Choose the profile that the command works with."""
    if profile:  # an option counts more than the environment
        os.environ["SLIPWAY_PROFILE"] = profile
        for name in ("SLIPWAY_URL", "SLIPWAY_KEY"):
            os.environ.pop(name, None)


@app.command()
def version(as_json: Json = False) -> None:
    """Print the version."""
    from shared import __version__

    python = sys.version.split()[0]
    if as_json:
        put_json({"slipway": __version__, "python": python})
    else:
        put(f"slipway {__version__} (Python {python})")


if __name__ == "__main__":
    main()
