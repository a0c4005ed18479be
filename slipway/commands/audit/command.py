"""`slipway audit`: its options. Its code is imported when it is called."""

from importlib import import_module

import typer

from slipway.commands.options import LOCAL, Json, Key, Url

app = typer.Typer()


@app.command(short_help="Compare drops, ledger, clusters and deliveries.")
def audit(
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Compare drops, ledger, clusters and deliveries; exit code 1 if they differ, 3 if one is silent."""
    raise typer.Exit(import_module("slipway.commands.audit.audit").run(url, key, as_json=as_json))
