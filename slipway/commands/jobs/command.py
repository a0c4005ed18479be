"""`slipway jobs`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated, Literal

import typer

from slipway.commands import conditions
from slipway.commands.options import LOCAL, Json, Key, Url, Utc

app = typer.Typer()


Order = Literal["created", "ended"]


@app.command()
def jobs(
    state: conditions.State = None,
    name: conditions.Name = None,
    experiment: conditions.Experiment = None,
    label: conditions.Label = None,
    cluster: conditions.Cluster = None,
    source: conditions.Source = None,
    owner: conditions.Owner = None,
    team: conditions.Team = None,
    sweep: conditions.Sweep = None,
    contains: conditions.Contains = None,
    error: conditions.Error = None,
    since: conditions.Since = None,
    until: conditions.Until = None,
    order: Annotated[
        Order | None, typer.Option(help="ended: the last end first, and --since and --until are about ends")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="most jobs to show")] = 20,
    after: Annotated[str | None, typer.Option(help="continue an earlier list")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="the same as --state failed,lost")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="show them again as they change, until Ctrl-C")
    ] = False,
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """List jobs, newest first. A terminal gets as much of each as fits into a line, a pipe all of it."""
    listed = (state, name, experiment, label, cluster, source, owner, team, sweep)
    named = conditions.given_as(*listed, contains, error, since, until)
    named |= {"order": order} if order else {}
    named |= {"after": after} if after else {}
    command = import_module("slipway.commands.jobs.listing")
    act = command.watch if watch else command.jobs
    chosen, view = command.conditions(named, failed=failed), command.view(utc=utc)
    raise typer.Exit(act(url, key, chosen, limit, view, as_json=as_json))
