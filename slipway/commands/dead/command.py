"""`slipway dead …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from typing import Annotated, Any

import typer

from slipway.commands.options import LOCAL, Json, Key, Url, Utc

app = typer.Typer(
    name="dead",
    help="Inspect and redrive dead letters.",
    no_args_is_help=True,
)


@app.command("list")
def list_(utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List dead letters with the reason."""
    raise typer.Exit(_command().list_dead(url, key, utc=utc, as_json=as_json))


@app.command()
def redrive(
    what: Annotated[
        list[str], typer.Argument(metavar="ID…", help="ids from `dead list`, d_… or evt_…; or all")
    ],
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send dead messages back through their door, and dead events to their receivers, under the same ids."""
    raise typer.Exit(_command().redrive(what, url, key, as_json=as_json))


def _command() -> Any:
    return import_module("slipway.commands.dead.dead")
