"""`slipway prices`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.options import Json

app = typer.Typer()


@app.command(short_help="Ask Azure what nodes cost today.")
def prices(
    sizes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SIZE]...", help="VM sizes; else those of the file", show_default=False),
    ] = None,
    region: Annotated[str, typer.Option(help="region of Azure, such as eastus", show_default=False)] = "",
    currency: Annotated[str, typer.Option(help="three letters")] = "USD",
    target: Annotated[
        Path | None,
        typer.Option("--into", metavar="FILE", help="update its SLIPWAY_PRICES: infra/settings.json"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask Azure's public list what nodes cost today: rows of SLIPWAY_PRICES, printed or put into a file.

    It needs no login. Without a SIZE it updates the rows that the file has.
    """
    command = import_module("slipway.commands.prices.prices")
    raise typer.Exit(command.run(sizes or (), region, currency, target, as_json=as_json))
