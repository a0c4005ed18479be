"""`slipway events …`: the words of its commands; what they do is imported when they are called."""

from importlib import import_module
from typing import Annotated, Any

import typer

from cli.options import LOCAL, JobId, Json, Key, Url

app = typer.Typer(
    name="events", help="What receivers were told, and telling them again.", no_args_is_help=True
)


@app.command("list")
def list_(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show a job's events: who was told, when, what was answered, in how many milliseconds."""
    raise typer.Exit(_does().list_events(job, url, key, as_json=as_json))


@app.command()
def redeliver(
    what: Annotated[str, typer.Argument(metavar="ID|JOB", help="an event, evt_…, or all of a job, j_…")],
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send events again, delivered or not: the same ids, the same bytes."""
    raise typer.Exit(_does().redeliver(what, url, key))


@app.command("test")
def try_(
    receiver: Annotated[str, typer.Argument(metavar="URL", help="the address of a receiver")],
    secret: Annotated[str, typer.Option(help="name of a configured secret  [default: default]")] = "",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send a signed test. Who answers it gets events again, if a 410 had disabled the address."""
    raise typer.Exit(_does().test(receiver, secret, url, key))


@app.command()
def disabled(url: Url = LOCAL, key: Key = "") -> None:
    """Show the addresses that get no more events because they answered 410."""
    raise typer.Exit(_does().disabled(url, key))


def _does() -> Any:
    return import_module("cli.events")
