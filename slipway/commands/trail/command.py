"""`slipway trail`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, Url, Utc

app = typer.Typer()


@app.command(short_help="Show who did what.")
def trail(
    by: Annotated[str | None, typer.Option(help="the id of a caller, or the name of a key")] = None,
    operation: Annotated[str | None, typer.Option(help="as in the API's description: cancel_job")] = None,
    about: Annotated[str | None, typer.Option(help="the id of a job, a sweep or an event")] = None,
    team: Annotated[str | None, typer.Option(help="the team of the jobs")] = None,
    day: Annotated[str | None, typer.Option(help="a day in UTC: 2026-11-25")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="how many acts, at most")] = 20,
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show who did what, the newest act last: each request that changed something, or was forbidden to.

    Operators see all acts, managers those on jobs of their teams.
    """
    named = {"by": by, "operation": operation, "about": about, "team": team, "day": day}
    conditions = {name: text for name, text in named.items() if text is not None}
    command = import_module("slipway.commands.trail.trail")
    raise typer.Exit(command.run(url, key, conditions, limit, utc=utc, as_json=as_json))
