"""`slipway init`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import Json

app = typer.Typer()


@app.command(short_help="Write a script and a job.json to begin with.")
def init(
    template: Annotated[
        str,
        typer.Argument(
            metavar="[TEMPLATE]", help="python, pytorch-distributed, tensorflow, horovod or sweep"
        ),
    ] = "python",
    to: Annotated[
        Path | None, typer.Option(help="folder to write  [default: one named after the template]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a folder with a script, a job.json and what the script needs; replaces no file."""
    raise typer.Exit(import_module("slipway.commands.init.init").run(template, to, as_json=as_json))
