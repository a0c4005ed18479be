"""`slipway download`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Attempt, JobId, Json, Key, Url

app = typer.Typer()


@app.command(short_help="Download the files that a job wrote.")
def download(
    job: JobId,
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATTERN…]", help="a file or folder as `files --tree` names it; * and ? match"
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="the directory to save them in  [default: one named after the job]")
    ] = None,
    attempt: Attempt = None,
    any_size: Annotated[
        bool, typer.Option("--any-size", help="do not ask about 100 GB or more, or a full disk")
    ] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Download the files that a job wrote, by default all of them.

    Files that are there already, of the same size and time, are left alone; others of the same name are
    replaced. A download that was interrupted goes on where it stopped. The file .slipway-job in the directory
    names the job. Programs are programs here, too; where a cluster does not say which files are (Batch AI),
    those that begin as one. What is left out is said with its reason.
    """
    download_command = import_module("slipway.commands.download.download").download
    how = {"attempt": attempt or 0, "any_size": any_size, "as_json": as_json}
    raise typer.Exit(download_command(job, patterns or (), to, url, key, **how))
