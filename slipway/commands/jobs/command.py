"""`slipway jobs`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Json, Key, Url, Utc

app = typer.Typer()


@app.command()
def jobs(
    state: Annotated[str | None, typer.Option(help="active, or states separated by commas")] = None,
    name: Annotated[
        str | None, typer.Option(help="a name; train-* matches every name that begins so")
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="the experiment of the jobs")] = None,
    label: Annotated[str | None, typer.Option(help="a label, as NAME or NAME=VALUE")] = None,
    cluster: Annotated[str | None, typer.Option(help="the cluster of the jobs")] = None,
    source: Annotated[
        str | None, typer.Option(help="drop, inventory, http, queue or rerun, separated by commas")
    ] = None,
    owner: Annotated[str | None, typer.Option(help="the id of the caller who asked for the jobs")] = None,
    since: Annotated[
        str | None, typer.Option(help="created since then: 2h, 7d, or 2026-11-20T10:00:00Z")
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(help="the sweep of the jobs: its id (or the beginning of it), its name, or last"),
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
    named = {
        "state": state,
        "name": name,
        "experiment": experiment,
        "label": label,
        "cluster": cluster,
        "source": source,
        "owner": owner,
        "sweep": sweep,
        "since": since,
        "after": after,
    }
    command = import_module("slipway.commands.jobs.listing")
    act = command.watch if watch else command.jobs
    conditions, view = command.conditions(named, failed=failed), command.view(utc=utc)
    raise typer.Exit(act(url, key, conditions, limit, view, as_json=as_json))
