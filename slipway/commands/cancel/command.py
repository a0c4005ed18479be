"""`slipway cancel`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands import conditions
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.failure import USAGE, Failure

app = typer.Typer()


@app.command(short_help="Cancel a job, or all that fit.")
def cancel(
    job: Annotated[
        str,
        typer.Argument(
            metavar="[JOB]", help="its id (or the beginning of it), its name, or last", show_default=False
        ),
    ] = "",
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
    since: conditions.Since = None,
    until: conditions.Until = None,
    yes: Annotated[bool, typer.Option("--yes", help="cancel all that fit, without being asked")] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Cancel a job, or all jobs that fit, up to 10,000: slipway cancel --owner ann --state queued."""
    listed = (state, name, experiment, label, cluster, source, owner, team, sweep)
    chosen = conditions.given_as(*listed, contains, None, since, until)
    if bool(job) == bool(chosen):
        raise Failure("name either a job or conditions, such as --owner ann --state active", USAGE)
    command = import_module("slipway.commands.cancel.cancel")
    if job:
        raise typer.Exit(command.cancel(job, url, key, as_json=as_json))
    raise typer.Exit(command.cancel_all(chosen, url, key, yes=yes, as_json=as_json))
