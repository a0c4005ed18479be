"""`slipway cat`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Attempt, JobId, Key, Url

app = typer.Typer()


@app.command(short_help="Print a file that a job wrote.")
def cat(
    job: JobId,
    file: Annotated[str, typer.Argument(help="its name as `files --tree` shows it, e.g. MODEL/weights.bin")],
    attempt: Attempt = None,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Print a file that a job wrote. A name without its directory is one of stdouterr.

    A file or a pipe gets it as it is; on a terminal, what would move the cursor or hide text is made visible.
    """
    raise typer.Exit(import_module("slipway.commands.cat.cat").cat(job, file, url, key, attempt or 0))
