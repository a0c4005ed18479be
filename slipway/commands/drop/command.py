"""`slipway drop`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, SettingsFile, Url

app = typer.Typer()


@app.command(short_help="Upload a folder to the drop container.")
def drop(
    folder: Annotated[Path, typer.Argument(help="folder with a script and a job.json")],
    to: Annotated[str, typer.Option(help="folder in the drop container  [default: the same name]")] = "",
    force: Annotated[
        bool,
        typer.Option("--force", help="upload it even if the job cannot run, or has a secret"),
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
    module = import_module(f"slipway.commands.drop.{'drop_follow' if follow else 'drop'}")
    prepared = import_module("slipway.commands.drop.drop").prepared
    one = prepared(folder, to, url, key, settings, force=force, quiet=as_json or follow)
    raise typer.Exit(module.run(one, as_json=as_json))
