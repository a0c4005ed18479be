"""`slipway events …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from typing import Annotated, Any

import typer

from slipway.commands.help_groups import teaching
from slipway.commands.options import LOCAL, JobId, Json, Key, Url, Utc

app = typer.Typer(
    name="events",
    help="Inspect and redeliver webhook events.",
    no_args_is_help=True,
    cls=teaching("list"),
)


@app.command("list")
def list_(job: JobId, utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List a job's events with every delivery: receiver, time, answer, duration."""
    raise typer.Exit(_command().list_events(job, url, key, utc=utc, as_json=as_json))


@app.command()
def redeliver(
    what: Annotated[
        str, typer.Argument(metavar="ID|JOB", help="one event, evt_…, or all events of a job, j_…")
    ],
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send events again, whether or not they were delivered, with the same ids and the same bytes."""
    raise typer.Exit(_command().redeliver(what, url, key, as_json=as_json))


@app.command("test")
def try_(
    receiver: Annotated[str, typer.Argument(metavar="URL", help="URL of a receiver")],
    secret: Annotated[str, typer.Option(help="name of a configured secret  [default: default]")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send a signed test event. A receiver that accepts it is enabled again if a 410 had disabled it.

    The exit code is 1 if the receiver does not accept it, and 125 where no answer says so.
    """
    raise typer.Exit(_command().test(receiver, secret, url, key, as_json=as_json))


@app.command()
def disabled(utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List the receivers that are disabled because they answered 410."""
    raise typer.Exit(_command().disabled(url, key, utc=utc, as_json=as_json))


def _command() -> Any:
    return import_module("slipway.commands.events.events")
