"""`slipway nodes`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, Url

app = typer.Typer()


@app.command()
def nodes(
    cluster: Annotated[
        str, typer.Argument(help="name of a cluster; all clusters without it", show_default=False)
    ] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the clusters and the current state of their nodes."""
    raise typer.Exit(import_module("slipway.commands.nodes.nodes").run(cluster, url, key, as_json=as_json))
