"""`slipway code`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, Url

app = typer.Typer()


@app.command(short_help="Show, compare or fetch the code that a job runs.")
def code(
    job: Annotated[str, typer.Argument(help="a job: its id, the beginning of it, its name, or last")],
    as_list: Annotated[bool, typer.Option("--list", help="list its files")] = False,
    diff: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="show what differs from this folder")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write its files into this directory")
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the code that a job runs, compare it with a folder, or write it into a directory.

    The directory of --to has to be new, or empty. The exit code is 1 if something differs (--diff), or has a
    name that this disk cannot have (--to).
    """
    run = import_module("slipway.commands.code.code").run
    raise typer.Exit(run(job, url, key, as_list=as_list, diff=diff, to=to, as_json=as_json))
