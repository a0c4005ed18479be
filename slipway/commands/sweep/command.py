"""`slipway sweep …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from typing import Annotated, Any

import typer

from slipway.commands.help_groups import teaching
from slipway.commands.options import LOCAL, Json, Key, Url

app = typer.Typer(
    name="sweep",
    help="Look at a sweep of jobs, or cancel all of them.",
    no_args_is_help=True,
    cls=teaching("show"),
)
Sweep = Annotated[
    str, typer.Argument(metavar="SWEEP", help="its id (or the beginning of it), its name, or last")
]


@app.command(short_help="Show how far a sweep is, and its best jobs.")
def show(
    sweep: Sweep,
    best: Annotated[
        str,
        typer.Option(metavar="METRIC", help="list its jobs by the last value of this metric, lowest first"),
    ] = "",
    most: Annotated[bool, typer.Option("--max", help="highest first")] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show how many jobs of a sweep wait, work and have ended; with --best, its ten best jobs."""
    raise typer.Exit(_does().show_sweep(sweep, url, key, best, most=most, as_json=as_json))


@app.command()
def cancel(sweep: Sweep, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Cancel every job of a sweep."""
    raise typer.Exit(_does().cancel(sweep, url, key, as_json=as_json))


def _does() -> Any:
    return import_module("slipway.commands.sweep.sweep")
