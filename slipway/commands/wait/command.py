"""`slipway wait`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

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
def wait(
    job: JobId,
    timeout: Annotated[
        int | None, typer.Option(min=1, help="seconds after which it stops waiting, with the exit code 124")
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Wait until a job has ended. The exit code is the job's; it is 125 where no answer says how it ended."""
    raise typer.Exit(
        import_module("slipway.commands.wait.wait").wait(job, url, key, as_json=as_json, timeout=timeout)
    )
