"""`slipway rerun`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, IdempotencyKey, Json, Key, SettingsFile, Url

app = typer.Typer()


@app.command()
def rerun(
    job: Annotated[
        str, typer.Argument(help="a job (id, name or last), or its receipt: a file, or runs/…/receipt.json")
    ],
    resume: Annotated[bool, typer.Option("--resume", help="go on from what the job saved")] = False,
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Run a job again, exactly as it ran, with the same code."""
    how = {"as_json": as_json, "once": idempotency_key, "resumes": resume}
    raise typer.Exit(import_module("slipway.commands.rerun.rerun").run(job, url, key, settings, **how))
