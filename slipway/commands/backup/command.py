"""`slipway backup …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from slipway.commands.help_groups import teaching
from slipway.commands.options import Json, SettingsFile

app = typer.Typer(
    name="backup",
    help="Keep the ledger in a file, and make a table from it.",
    no_args_is_help=True,
    cls=teaching("make"),
)
File = Annotated[Path, typer.Argument(metavar="FILE", help="the file of the backup")]


@app.command()
def make(
    file: File,
    table: Annotated[
        str, typer.Option(help="the table  [default: that of the deployment's settings]", show_default=False)
    ] = "",
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Write every row of the ledger into a file, as they are at one moment.

    The table is read twice. If it changed meanwhile, it is read again, and after some rounds the command
    gives up: stop the app for that minute. Secrets in the file stay sealed; all else is readable there.
    """
    raise typer.Exit(_code().make(file, table, settings, as_json=as_json))


@app.command()
def restore(
    file: File,
    table: Annotated[str, typer.Option("--into", metavar="TABLE", help="a table that is new, or empty")],
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Make a table from the file of a backup. A table that has rows is left as it is."""
    raise typer.Exit(_code().restore(file, table, settings, as_json=as_json))


def _code() -> Any:
    return import_module("slipway.commands.backup.backup")
