"""`slipway preempt`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import Json, SettingsFile

app = typer.Typer()


@app.command(short_help="Preempt a low-priority node of the emulator.")
def preempt(
    node: Annotated[
        str, typer.Argument(help="id or address of the node; without it, the nodes are listed")
    ] = "",
    cluster: Annotated[str, typer.Option(help="only the nodes of this cluster")] = "",
    emulator: Annotated[
        str, typer.Option(help="URL of the emulator  [default: that of the settings]", show_default=False)
    ] = "",
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Preempt a low-priority node of the local emulator: its job goes back to the queue."""
    preempt_command = import_module("slipway.commands.preempt.preempt").run
    raise typer.Exit(preempt_command(node, cluster, emulator, settings, as_json=as_json))
