"""`slipway cancel`: its options. Its code is imported when it is called."""

from importlib import import_module

import typer

from slipway.commands.options import (
    LOCAL,
    JobId,
    Json,
    Key,
    Url,
)

app = typer.Typer()


@app.command()
def cancel(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Cancel a job."""
    raise typer.Exit(import_module("slipway.commands.cancel.cancel").cancel(job, url, key, as_json=as_json))
