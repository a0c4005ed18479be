"""The commands about the local emulator: their words; what they do is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.clone import module_of_clone
from slipway.options import Json, SettingsFile

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
    preempt_command = import_module("slipway.commands.preempt").run
    raise typer.Exit(preempt_command(node, cluster, emulator, settings, as_json=as_json))


@app.command("az-env", short_help="Print shell settings that point the Azure CLI here.")
def az_env(
    data: Annotated[
        Path | None, typer.Option(help="data directory of the running `up`  [default: .local/up]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print shell settings that point the Azure CLI at the local stack: eval "$(slipway az-env)"."""
    raise typer.Exit(module_of_clone("slipway.commands.az_env").run(data, as_json=as_json))
