"""The commands for local emulators: their options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.clone import module_of_clone
from slipway.options import Json, SettingsFile

app = typer.Typer()
emulate = typer.Typer(
    name="emulate",
    help="Run an emulator by itself, without the rest of the stack.",
    no_args_is_help=True,
)


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
    preempt_command = import_module("slipway.commands.stack.preempt").run
    raise typer.Exit(preempt_command(node, cluster, emulator, settings, as_json=as_json))


@app.command("az-env", short_help="Print shell settings that point the Azure CLI here.")
def az_env(
    data: Annotated[
        Path | None, typer.Option(help="data directory of the running `up`  [default: .local/up]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print shell settings that point the Azure CLI at the local stack: eval "$(slipway az-env)"."""
    raise typer.Exit(module_of_clone("slipway.stack.az_env").run(data, as_json=as_json))


@emulate.command(short_help="Run the emulator of Azure Batch until Ctrl-C.")
def batch(
    port: Annotated[int, typer.Option(help="port on 127.0.0.1; 0 picks a free one", min=0, max=65535)] = 0,
    data: Annotated[
        Path | None, typer.Option(help="directory for its state and nodes  [default: .local/azurebatch]")
    ] = None,
    autoscale_seconds: Annotated[
        float | None,
        typer.Option(help="how often formulas are evaluated  [default: as the pools say]", min=0.1),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run the emulator of Azure Batch until Ctrl-C, and print its endpoint, account and key."""
    emulate_command = module_of_clone("slipway.stack.emulate").batch
    raise typer.Exit(emulate_command(port, data, autoscale_seconds, as_json=as_json))


app.add_typer(emulate)
