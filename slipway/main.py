"""The `slipway` command. Each subcommand is imported when it is called, so that help and errors are quick."""

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from slipway.commands.audit.command import app as audit
from slipway.commands.code.command import app as code
from slipway.commands.completion.command import app as completion
from slipway.commands.costs.command import app as costs
from slipway.commands.data.command import app as data
from slipway.commands.dead.command import app as dead
from slipway.commands.doctor.command import app as doctor
from slipway.commands.document.command import app as documents
from slipway.commands.events.command import app as events
from slipway.commands.explain.command import app as explain
from slipway.commands.job_commands import app as jobs
from slipway.commands.login.command import app as login
from slipway.commands.nodes.command import app as nodes
from slipway.commands.output.command import app as output
from slipway.commands.prices.command import app as prices
from slipway.commands.running.command import app as drops
from slipway.commands.stack.command import app as stack
from slipway.commands.stack.emulators import app as emulators
from slipway.commands.sweeps.command import app as sweep
from slipway.commands.teams.command import app as teams
from slipway.commands.trail.command import app as trail
from slipway.failure import exit_code
from slipway.help_groups import Grouped
from slipway.options import Json
from slipway.screen import put, put_json

app = typer.Typer(
    name="slipway",
    cls=Grouped,
    help="Dispatches Batch AI job files: from a dropped script to a signed webhook.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


GROUPS = (
    *(jobs, output, code, drops, documents, explain, events, dead, sweep, costs, prices),
    *(teams, trail, nodes, audit, data, login, doctor, stack, emulators, completion),
)
for group in GROUPS:
    app.add_typer(group)


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and its exit code."""
    # What the terminal's encoding does not have is written as standard error writes it, not refused.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(exit_code(app))


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
    """Dispatches Batch AI job files: from a dropped script to a signed webhook."""
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
