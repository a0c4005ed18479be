"""`slipway submit`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, After, AfterFailure, IdempotencyKey, Json, Key, Url

app = typer.Typer()


@app.command(short_help="Submit a job through the HTTP API.")
def submit(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json; - reads standard input")],
    after: After = None,
    after_failure: AfterFailure = None,
    code: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="folder whose copy the job runs in  [default: none]")
    ] = None,
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Submit a job through the HTTP API. One without a name is called by its folder, or by its file.

    A job.json that runs a script beside it is sent with its folder, as by `slipway run`.
    """
    order = import_module("slipway.client.request.order").Order(after or (), after_failure or ())
    how = {"as_json": as_json, "once": idempotency_key}
    raise typer.Exit(import_module("slipway.commands.submit.submit").run(file, url, key, order, code, **how))
