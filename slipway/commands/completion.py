"""`slipway completion`: the script with which a shell completes these commands."""

from importlib import import_module
from typing import Annotated, Literal

import typer

from slipway.terminal.screen import put

app = typer.Typer()


@app.command(short_help="Print the script of a shell that completes these commands.")
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish", "powershell"], typer.Argument(help="whose script")],
) -> None:
    """Print the script that completes commands and options: source it, or keep it where your shell looks.

    For one session of bash: source <(slipway completion bash). `slipway --install-completion` keeps it.
    """
    script = import_module("typer.completion").get_completion_script
    for line in script(prog_name="slipway", complete_var="_SLIPWAY_COMPLETE", shell=shell).splitlines():
        put(line)
