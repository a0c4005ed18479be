"""`slipway shell`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, JobId, Key, Rank, Url

app = typer.Typer()

Print = Annotated[bool, typer.Option("--print", help="print the command line of the tool, and run nothing")]


@app.command(short_help="Open a shell in a running job, or run a command there.")
def shell(
    job: JobId,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="what to run  [default: a shell]")
    ] = None,
    rank: Rank = 0,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="without a terminal, for a ProxyCommand of ssh and for scripts")
    ] = False,
    print_only: Print = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Open a shell in a running job, or run a command there, with its exit code.

    It has the environment and the directory of the job's own process, and shares its memory and GPUs: what
    runs there can end the job, and ends with it. The tool of the cluster goes there with your own rights:
    kubectl, srun or ssh.
    """
    command = import_module("slipway.commands.shell.shell")
    raise typer.Exit(command.run(job, rank, words or [], url, key, stdio=stdio, print_only=print_only))
