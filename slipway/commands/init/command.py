"""`slipway init`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import Json
from slipway.failure import Usage

app = typer.Typer()


@app.command(short_help="Write a script and a job.json to begin with.")
def init(
    template: Annotated[
        str,
        typer.Argument(
            metavar="[TEMPLATE]",
            help="python, pytorch-distributed, tensorflow, horovod or sweep  [default: python]",
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="a job of SkyPilot, dstack, Azure ML or Slurm instead"),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(help="folder to write  [default: the template's name, or the code's folder]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a folder with a script, a job.json and what the script needs; replaces no file.

    With --from, the job.json and what belongs to it are made from a file of another system, in the folder
    of its code: a task of SkyPilot or dstack, a command job of Azure ML, or a script for sbatch. What has
    no counterpart here is listed with its line, as is each secret, which no job gets.
    """
    if file is None:
        template = template or "python"
        raise typer.Exit(import_module("slipway.commands.init.init").run(template, to, as_json=as_json))
    if template:
        raise Usage("--from FILE takes no template; leave one of them out")
    raise typer.Exit(import_module("slipway.commands.init.translated").run(file, to, as_json=as_json))
