"""`slipway submit`: its options. Its code is imported when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import (
    LOCAL,
    After,
    AfterFailure,
    DryRun,
    IdempotencyKey,
    Json,
    Key,
    MaxCost,
    Url,
)

app = typer.Typer()


@app.command(short_help="Submit a job through the HTTP API.")
def submit(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json; - reads standard input")],
    after: After = None,
    after_failure: AfterFailure = None,
    code: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="folder whose copy the job runs in  [default: none]")
    ] = None,
    dry_run: DryRun = False,
    max_cost: MaxCost = None,
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Submit a job through the HTTP API. One without a name is called by its folder, or by its file.

    A job.json that runs a script beside it is sent with its folder, as by `slipway run`.
    """
    from slipway.client.request.order import Order
    from slipway.commands.submit.submit import How, run

    order = Order(after or (), after_failure or ())
    how = How(idempotency_key, max_cost, dry_run, as_json)
    raise typer.Exit(run(file, url, key, order, code, how))
