"""`slipway files`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Attempt, JobId, Json, Key, Url, Utc

app = typer.Typer()


@app.command()
def files(
    job: JobId,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="[FOLDER]",
            help="an output directory or a folder in one, e.g. MODEL/best",
        ),
    ] = "",
    directory: Annotated[str, typer.Option(help="stdouterr, or the id of an output directory")] = "stdouterr",
    path: Annotated[str, typer.Option(help="a folder in that directory")] = ".",
    tree: Annotated[
        bool, typer.Option("--tree", help="all files of all output directories, as `download` names them")
    ] = False,
    attempt: Attempt = None,
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """List the files that a job wrote."""
    command = import_module("slipway.commands.files.files")
    if tree:
        raise typer.Exit(command.tree(job, folder, url, key, attempt or 0, as_json=as_json))
    chosen = command.folder_of(folder, directory, path)
    how = {"attempt": attempt or 0, "utc": utc, "as_json": as_json}
    raise typer.Exit(command.run(job, chosen.directory, chosen.path, url, key, **how))
