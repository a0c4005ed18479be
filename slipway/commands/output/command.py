"""The commands for a job's output: their options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from slipway.options import LOCAL, JobId, Json, JsonLines, Key, Url, Utc

app = typer.Typer()


@app.command()
def receipt(job: JobId, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Print the receipt of a job, for `rerun` and for the record."""
    raise typer.Exit(_command("show").receipt(job, url, key, as_json=as_json))


@app.command()
def files(
    job: JobId,
    folder: Annotated[
        str,
        typer.Argument(
            metavar="[FOLDER]",
            help="an output directory or a folder in one, e.g. MODEL/best",
        ),
    ] = "",
    directory: Annotated[str, typer.Option(help="stdouterr, or the id of an output directory")] = "stdouterr",
    path: Annotated[str, typer.Option(help="a folder in that directory")] = ".",
    tree: Annotated[
        bool, typer.Option("--tree", help="all files of all output directories, as `download` names them")
    ] = False,
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """List the files that a job wrote."""
    command = _command("output.files")
    if tree:
        raise typer.Exit(command.tree(job, folder, url, key, as_json=as_json))
    chosen = command.folder_of(folder, directory, path)
    raise typer.Exit(command.run(job, chosen.directory, chosen.path, url, key, utc=utc, as_json=as_json))


@app.command(short_help="Download the files that a job wrote.")
def download(
    job: JobId,
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATTERN…]", help="a file or folder as `files --tree` names it; * and ? match"
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="the directory to save them in  [default: one named after the job]")
    ] = None,
    any_size: Annotated[
        bool, typer.Option("--any-size", help="do not ask about 100 GB or more, or a full disk")
    ] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Download the files that a job wrote, by default all of them.

    Files that are there already, of the same size and time, are left alone; others of the same name are
    replaced. A download that was interrupted goes on where it stopped. The file .slipway-job in the directory
    names the job.
    """
    download_command = _command("output.download").download
    raise typer.Exit(download_command(job, patterns or (), to, url, key, any_size=any_size, as_json=as_json))


@app.command(short_help="Print a file that a job wrote.")
def cat(
    job: JobId,
    file: Annotated[str, typer.Argument(help="its name as `files --tree` shows it, e.g. MODEL/weights.bin")],
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Print a file that a job wrote. A name without its directory is one of stdouterr.

    A file or a pipe gets it as it is; on a terminal, what would move the cursor or hide text is made visible.
    """
    raise typer.Exit(_command("output.cat").cat(job, file, url, key))


@app.command(short_help="Print the output of a job.")
def log(
    job: JobId,
    file: Annotated[
        str,
        typer.Option(help="file to print, such as stderr.txt  [default: standard output of every process]"),
    ] = "",
    rank: Annotated[str, typer.Option(help="only the process of this rank, such as 0 or wk-1")] = "",
    tail: Annotated[
        int | None,
        typer.Option(min=0, help="begin with this many of the last lines of each process that --grep finds"),
    ] = None,
    grep: Annotated[
        str, typer.Option(metavar="PATTERN", help="only lines in which this regular expression matches")
    ] = "",
    timestamps: Annotated[
        bool,
        typer.Option("--timestamps", help="with --follow, begin each line with the time at which it arrived"),
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="keep printing until the job has ended")
    ] = False,
    as_json: JsonLines = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Print the output of a job.

    Where there are several processes, each line begins with the rank. A terminal gets the colours of the job,
    and no other control sequence; a file or a pipe gets the bytes as they are. With --json, a log without
    lines prints nothing: standard output stays empty, and standard error says why.

    With --follow, the exit code is 1 if the job did not succeed, and 125 where no answer says how it ended.
    """
    command = _command("output.log")
    selection = command.Selection(file, rank, tail)
    how = {"follow": follow, "timestamps": timestamps, "as_json": as_json}
    raise typer.Exit(command.run(job, url, key, selection, grep, **how))


@app.command(short_help="Show the numbers that a job reports, as curves.")
def metrics(
    job: JobId,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="series to show; * and ? match")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="keep showing them until the job has ended")
    ] = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the numbers that a job and its nodes report, by default all of them.

    A job prints {"slipway": {"epoch": 3, "loss": 0.1}}, or writes such lines into metrics.jsonl in an output
    directory. They are drawn on a terminal; elsewhere each point is a line, with tabs between its columns.
    With --follow, the exit codes are those of `log --follow`.
    """
    show_metrics = _command("output.metrics").run
    raise typer.Exit(show_metrics(job, names or (), url, key, follow=follow, as_json=as_json))


def _command(name: str) -> Any:
    return import_module(f"slipway.commands.{name}")
