"""`slipway costs`: its options. Its code is imported when it is called."""

from enum import StrEnum
from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, Url

app = typer.Typer()


class Group(StrEnum):
    """The criterion by which costs are grouped."""

    JOB = "job"
    NAME = "name"
    EXPERIMENT = "experiment"
    CLUSTER = "cluster"
    TEAM = "team"
    OWNER = "owner"
    MONTH = "month"


@app.command(short_help="Show what jobs used and cost.")
def costs(
    by: Annotated[Group, typer.Option(help="what to sum by")] = Group.EXPERIMENT,
    since: Annotated[str, typer.Option(help="created since then: 2h, 7d, or 2026-11-20T10:00:00Z")] = "30d",
    experiment: Annotated[str | None, typer.Option(help="the experiment of the jobs")] = None,
    cluster: Annotated[str | None, typer.Option(help="the cluster of the jobs")] = None,
    team: Annotated[str | None, typer.Option(help="the team of the jobs")] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show what the jobs used that have ended: node-hours, GPU-hours, and money where the price is known."""
    named = {"since": since, "experiment": experiment, "cluster": cluster, "team": team}
    conditions = {name: text for name, text in named.items() if text is not None}
    command = import_module("slipway.commands.costs.costs")
    raise typer.Exit(command.run(url, key, by.value, conditions, as_json=as_json))
