"""The commands for jobs: their options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from slipway.options import (
    LOCAL,
    After,
    AfterFailure,
    IdempotencyKey,
    JobId,
    Json,
    Key,
    SettingsFile,
    Url,
    Utc,
)

app = typer.Typer()


@app.command(short_help="Submit a job through the HTTP API.")
def submit(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json; - reads standard input")],
    after: After = None,
    after_failure: AfterFailure = None,
    code: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="folder whose copy the job runs in  [default: none]")
    ] = None,
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Submit a job through the HTTP API. One without a name is called by its folder, or by its file.

    A job.json that runs a script beside it is sent with its folder, as by `slipway run`.
    """
    order = _command("document.order").Order(after or (), after_failure or ())
    how = {"as_json": as_json, "once": idempotency_key}
    raise typer.Exit(_command("submit").run(file, url, key, order, code, **how))


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
    command = _command("listing")
    act = command.watch if watch else command.jobs
    conditions, view = command.conditions(named, failed=failed), command.view(utc=utc)
    raise typer.Exit(act(url, key, conditions, limit, view, as_json=as_json))


@app.command(short_help="Show one job: its problems, history and receipt.")
def show(job: JobId, utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show one job: its state, its problems with their places, its history, its receipt."""
    raise typer.Exit(_command("show").run(job, url, key, utc=utc, as_json=as_json))


@app.command()
def wait(
    job: JobId,
    timeout: Annotated[
        int | None, typer.Option(min=1, help="seconds after which it stops waiting, with the exit code 124")
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Wait until a job has ended. The exit code is the job's; it is 125 where no answer says how it ended."""
    raise typer.Exit(_command("output.log").wait(job, url, key, as_json=as_json, timeout=timeout))


@app.command()
def cancel(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Cancel a job."""
    raise typer.Exit(_command("jobs").cancel(job, url, key, as_json=as_json))


@app.command()
def rerun(
    job: Annotated[
        str, typer.Argument(help="a job (id, name or last), or its receipt: a file, or runs/…/receipt.json")
    ],
    idempotency_key: IdempotencyKey = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Run a job again, exactly as it ran, with the code that it ran."""
    how = {"as_json": as_json, "once": idempotency_key}
    raise typer.Exit(_command("rerun").run(job, url, key, settings, **how))


@app.command()
def pause(
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pause submissions; accepted jobs wait until `resume`."""
    raise typer.Exit(_command("jobs").pause(url, key, reason, as_json=as_json))


@app.command()
def resume(as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Resume submissions after `pause`.

    The exit code is 1 if a setting still stops them, 125 without an answer.
    """
    raise typer.Exit(_command("jobs").resume(url, key, as_json=as_json))


def _command(name: str) -> Any:
    return import_module(f"slipway.commands.{name}")
