"""`slipway enqueue`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import IdempotencyKey, Json, SettingsFile

app = typer.Typer()


@app.command()
def enqueue(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json")],
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Put a job message on the queue. However often it arrives, it is one job."""
    raise typer.Exit(
        import_module("slipway.commands.enqueue.enqueue").run(
            file, settings, once=idempotency_key, as_json=as_json
        )
    )
