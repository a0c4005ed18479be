"""`slipway submit`: its options. Its code is imported when it is called."""

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
    from slipway.client.request.order import Order
    from slipway.commands.submit.submit import run

    order = Order(after or (), after_failure or ())
    raise typer.Exit(run(file, url, key, order, code, once=idempotency_key, as_json=as_json))
