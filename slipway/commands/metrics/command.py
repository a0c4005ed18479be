"""`slipway metrics`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Attempt, JobId, Json, Key, Url

app = typer.Typer()


@app.command(short_help="Show the numbers that a job reports, as curves.")
def metrics(
    job: JobId,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="series to show; * and ? match")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="keep showing them until the job has ended")
    ] = False,
    attempt: Attempt = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the numbers that a job and its nodes report, by default all of them.

    A job prints {"slipway": {"epoch": 3, "loss": 0.1}}, or writes such lines into metrics.jsonl in an output
    directory. They are drawn on a terminal; elsewhere each point is a line, with tabs between its columns.
    With --follow, the exit codes are those of `log --follow`.
    """
    show_metrics = import_module("slipway.commands.metrics.metrics").run
    shown = show_metrics(job, names or (), url, key, follow=follow, as_json=as_json, attempt=attempt or 0)
    raise typer.Exit(shown)
