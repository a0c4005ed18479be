"""`slipway emulate`: an emulator by itself."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from slipway.commands.clone import module_of_clone
from slipway.commands.options import Json

app = typer.Typer()
emulate = typer.Typer(
    name="emulate",
    help="Run an emulator by itself, without the rest of the stack.",
    no_args_is_help=True,
)


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
    containers: Annotated[
        Literal["auto", "host", "require"],
        typer.Option(
            help="tasks with an image: in Docker or Podman if one answers, on the host, or never there"
        ),
    ] = "require",
    as_json: Json = False,
) -> None:
    """Run the emulator of Azure Batch until Ctrl-C, and print its endpoint, account and key."""
    emulate_command = module_of_clone("slipway.stack.emulate").batch
    raise typer.Exit(emulate_command(port, data, autoscale_seconds, containers, as_json=as_json))


app.add_typer(emulate)
