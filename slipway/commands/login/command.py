"""The commands for profiles: their options. Their code is imported when they are called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import Json

app = typer.Typer()


@app.command(short_help="Keep the address of a deployment and its key.")
def login(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="address of the function app, e.g. https://my.azurewebsites.net"),
    ],
    name: Annotated[str, typer.Option(help="name of the profile  [default: the host]")] = "",
    scope: Annotated[
        str,
        typer.Option(help="sign in with Entra ID instead of a key: its scope, e.g. api://APP/.default"),
    ] = "",
    as_json: Json = False,
) -> None:
    """Try the address of a deployment and its key, and keep them as a profile, which later commands use.

    The function key is asked for, or read from standard input. The file ~/.config/slipway/profiles.json is
    readable by its owner only.
    """
    raise typer.Exit(import_module("slipway.commands.login.login").login(url, name, scope, as_json=as_json))


@app.command()
def logout(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="name of the profile; the current one without it", show_default=False
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Forget a profile with its key."""
    raise typer.Exit(import_module("slipway.commands.login.login").logout(name, as_json=as_json))
