"""`slipway dead …`: the words of its commands; what they do is imported when they are called."""

from importlib import import_module
from typing import Annotated, Any

import typer

from cli.options import LOCAL, Json, Key, Url

app = typer.Typer(
    name="dead",
    help="Messages and events that no try could deal with.",
    no_args_is_help=True,
)


@app.command("list")
def list_(as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show what is dead, and why."""
    raise typer.Exit(_does().list_dead(url, key, as_json=as_json))


@app.command()
def redrive(
    what: Annotated[list[str], typer.Argument(metavar="ID…", help="from the list: d_… or evt_…; or all")],
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Put it back through its door, or send it to its receivers, under the identity that it had."""
    raise typer.Exit(_does().redrive(what, url, key))


def _does() -> Any:
    return import_module("cli.dead")
