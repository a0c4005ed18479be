"""`slipway teams …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from slipway.commands.help_groups import teaching
from slipway.commands.options import LOCAL, Json, Key, Url

By = Literal["owner", "experiment"]
app = typer.Typer(
    name="teams",
    help="Show who shares the clusters of a deployment, and change it.",
    no_args_is_help=True,
    cls=teaching("show"),
)


@app.command()
def show(as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show the teams; with --json, the document that `apply` takes."""
    raise typer.Exit(_does().show_teams(url, key, as_json=as_json))


@app.command()
def usage(
    by: Annotated[
        By | None, typer.Option(help="also what each owner, or each experiment, used this month")
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show what your teams have of their quotas, and used this month."""
    raise typer.Exit(_does().usage(url, key, by or "", as_json=as_json))


@app.command(short_help="Replace the teams by those of a file.")
def apply(
    file: Annotated[Path, typer.Argument(help="the document of all teams")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="show what would change")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="replace any document, also one that cannot be read")
    ] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Replace the teams by those of a file, and show what that changes; with problems it changes nothing."""
    raise typer.Exit(_does().apply_teams(file, url, key, dry_run=dry_run, force=force, as_json=as_json))


@app.command(short_help="Make a key for one member.")
def key(
    name: Annotated[str, typer.Argument(metavar="NAME", help="who gets it", show_default=False)],
    operator: Annotated[
        bool, typer.Option("--operator", help="for an operator, who may do everything")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a key for one member, and print it once, with the entry of SLIPWAY_NAMED_KEYS that names it.

    It is stored nowhere, and the entry holds its hash only.
    """
    raise typer.Exit(_does("key").run(name, operator=operator, as_json=as_json))


def _does(module: str = "teams") -> Any:
    return import_module(f"slipway.commands.teams.{module}")
