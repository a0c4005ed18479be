"""The commands `drop` and `enqueue`: their options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from slipway.options import LOCAL, IdempotencyKey, Json, Key, SettingsFile, Url

app = typer.Typer()


@app.command(short_help="Upload a folder to the drop container.")
def drop(
    folder: Annotated[Path, typer.Argument(help="folder with a script and a job.json")],
    to: Annotated[str, typer.Option(help="folder in the drop container  [default: the same name]")] = "",
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="upload it even if the job cannot run, has a secret, or another runs from the folder",
        ),
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="wait for the job, and print its log until it has ended")
    ] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Upload a folder to the drop container, its job.json last, and name the job that begins by it.

    It waits for the job for about a minute. With --follow, the exit code is the job's, and --json prints
    what that of `run` does.
    """
    drop_command = _command("running.run").drop if follow else _command("running.drop").run
    raise typer.Exit(drop_command(folder, to, url, key, settings, force=force, as_json=as_json))


@app.command()
def enqueue(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json")],
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Put a job message on the queue. However often it arrives, it is one job."""
    raise typer.Exit(_command("enqueue").run(file, settings, once=idempotency_key, as_json=as_json))


def _command(name: str) -> Any:
    return import_module(f"slipway.commands.{name}")
