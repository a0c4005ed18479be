"""`slipway pause` and `slipway resume`: their options. Their code is imported when they are called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import (
    LOCAL,
    Json,
    Key,
    Url,
)

app = typer.Typer()


@app.command()
def pause(
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pause submissions; accepted jobs wait until `resume`."""
    raise typer.Exit(import_module("slipway.commands.pause.pause").pause(url, key, reason, as_json=as_json))


@app.command()
def resume(as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Resume submissions after `pause`.

    The exit code is 1 if a setting still stops them, 125 without an answer.
    """
    raise typer.Exit(import_module("slipway.commands.pause.pause").resume(url, key, as_json=as_json))
