"""The commands about jobs: their words; what they do is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.options import LOCAL, JobId, Json, Key, SettingsFile, Url

app = typer.Typer()


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json; - is standard input")],
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Ask for a job through the HTTP API."""
    raise typer.Exit(_command("submit").run(file, url, key))


@app.command()
def jobs(
    state: Annotated[str, typer.Option(help="active, or some states with commas")] = "",
    limit: Annotated[int, typer.Option(min=1, help="how many")] = 20,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show jobs, the newest first."""
    raise typer.Exit(_command("jobs").jobs(url, key, state, limit, as_json=as_json))


@app.command(short_help="Show one job: its problems, history and receipt.")
def show(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Show one job: how it stands, its problems with their places, its history, its receipt."""
    raise typer.Exit(_command("show").run(job, url, key, as_json=as_json))


@app.command()
def files(
    job: JobId,
    directory: Annotated[str, typer.Option(help="stdouterr, or the id of an output directory")] = "stdouterr",
    path: Annotated[str, typer.Option(help="a folder in it")] = ".",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the files that a job wrote."""
    raise typer.Exit(_command("files").run(job, directory, path, url, key, as_json=as_json))


@app.command()
def log(
    job: JobId,
    file: Annotated[str, typer.Option(help="e.g. stderr.txt  [default: its standard output]")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="until the job has ended")] = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Write what a job has written."""
    raise typer.Exit(_command("log").run(job, url, key, file, follow))


@app.command()
def cancel(job: JobId, url: Url = LOCAL, key: Key = "") -> None:
    """Ask for the end of a job."""
    raise typer.Exit(_command("jobs").cancel(job, url, key))


@app.command()
def rerun(
    receipt: Annotated[str, typer.Argument(help="a file, or runs/…/receipt.json as `show` names it")],
    url: Url = LOCAL,
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Run exactly the same again, as the receipt of a job has it."""
    raise typer.Exit(_command("rerun").run(receipt, url, key, settings))


@app.command()
def pause(
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Stop submissions, not acceptance: jobs wait until `resume`."""
    raise typer.Exit(_command("jobs").pause(url, key, reason))


@app.command()
def resume(url: Url = LOCAL, key: Key = "") -> None:
    """Let submissions go on after `pause`."""
    raise typer.Exit(_command("jobs").resume(url, key))


def _command(name: str) -> Any:
    return import_module(f"cli.{name}")
