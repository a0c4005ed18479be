"""`slipway show` and `slipway receipt`: their options. Their code is imported when they are called."""

from importlib import import_module

import typer

from slipway.commands.options import (
    LOCAL,
    JobId,
    Json,
    Key,
    Url,
    Utc,
)

app = typer.Typer()


@app.command(short_help="Show one job: its problems, history and receipt.")
def show(job: JobId, utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show one job: its state, its problems with their places, its history, its receipt."""
    raise typer.Exit(import_module("slipway.commands.show.show").run(job, url, key, utc=utc, as_json=as_json))


@app.command()
def receipt(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Print the receipt of a job, for `rerun` and for the record."""
    raise typer.Exit(import_module("slipway.commands.show.show").receipt(job, url, key, as_json=as_json))
