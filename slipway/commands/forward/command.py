"""`slipway forward`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, JobId, Key, Rank, Url

app = typer.Typer()


@app.command(short_help="Open ports of a running job on this machine.")
def forward(
    job: JobId,
    ports: Annotated[
        list[str], typer.Argument(metavar="PORT[:LOCAL]...", help="a port of the job, and the one here")
    ],
    rank: Rank = 0,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Open ports of a running job on this machine, for as long as the job runs.

    Only this machine reaches them, at 127.0.0.1. Where a port is taken here, it is the next one that is free.
    """
    raise typer.Exit(import_module("slipway.commands.forward.forward").run(job, ports, rank, url, key))
