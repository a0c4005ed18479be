"""`slipway log`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, Attempt, JobId, JsonLines, Key, Url

app = typer.Typer()


@app.command(short_help="Print the output of a job.")
def log(
    job: JobId,
    file: Annotated[
        str,
        typer.Option(help="file to print, such as execution.log  [default: the streams of every process]"),
    ] = "",
    stdout: Annotated[bool, typer.Option("--stdout", help="only standard output")] = False,
    stderr: Annotated[
        bool, typer.Option("--stderr", help="only standard error, which is then printed to standard output")
    ] = False,
    rank: Annotated[str, typer.Option(help="only the process of this rank, such as 0 or wk-1")] = "",
    attempt: Attempt = None,
    tail: Annotated[
        int | None,
        typer.Option(min=0, help="begin with this many of the last lines of each file that --grep finds"),
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

    What the job wrote to standard error is printed to standard error. Where there are several processes, each
    line begins with the rank, and with ! after it if it is of standard error. Of a line that rewrites itself,
    such as a progress bar, only the last state is printed; a terminal shows it as it changes. A terminal gets
    the colours of the job, and no other control sequence. With --json, a log without lines prints nothing:
    standard output stays empty, and standard error says why.

    With --follow, the exit code is 1 if the job did not succeed, and 125 where no answer says how it ended.
    """
    command = import_module("slipway.commands.log.log")
    choice = import_module("slipway.client.jobs.selection")
    stream = choice.stream_of(stdout=stdout, stderr=stderr)
    selection = choice.Selection(file, rank, stream, attempt or 0, tail)
    how = {"follow": follow, "timestamps": timestamps, "as_json": as_json}
    raise typer.Exit(command.run(job, url, key, selection, grep, **how))
