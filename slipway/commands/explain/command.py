"""`slipway explain`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import Json, Key, SettingsFile

app = typer.Typer()


@app.command(short_help="Show what would happen to a job, without running it.")
def explain(
    file: Annotated[Path, typer.Argument(help="a job.json with its folder, a message, or a folder to drop")],
    as_json: Json = False,
    url: Annotated[
        str, typer.Option(help="URL of a function app to ask; offline without it", show_default=False)
    ] = "",
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Show what would happen to a job; exit code 1 if it would not run, and 125 where that is not known."""
    raise typer.Exit(
        import_module("slipway.commands.explain.explain").run(file, url, key, settings, as_json=as_json)
    )
