"""`slipway az-env`: the Azure CLI, pointed at the local stack."""

from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.clone import module_of_clone
from slipway.commands.options import Json

app = typer.Typer()


@app.command("az-env", short_help="Print shell settings that point the Azure CLI here.")
def az_env(
    data: Annotated[
        Path | None, typer.Option(help="data directory of the running `up`  [default: .local/up]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print shell settings that point the Azure CLI at the local stack: eval "$(slipway az-env)"."""
    raise typer.Exit(module_of_clone("slipway.stack.az_env").run(data, as_json=as_json))
