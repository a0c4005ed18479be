"""`slipway tensorboard`: its options. Its code is imported when it is called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from slipway.commands.options import LOCAL, Key, Url

app = typer.Typer()
_PASSED = "slipway.passed"


class Passing(TyperCommand):
    """A command that keeps what follows `--` apart: there are as many jobs in front of it as one likes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words up to `--` only."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_PASSED] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@app.command(cls=Passing, short_help="Show the event files of jobs in your own TensorBoard.")
def tensorboard(
    context: typer.Context,
    jobs: Annotated[
        list[str],
        typer.Argument(
            metavar="JOB… [-- ARGUMENT…]",
            help="a job or a sweep, by its id (or the beginning of it) or its name; last is the latest job; "
            "what follows -- is TensorBoard's",
        ),
    ],
    to: Annotated[
        Path | None, typer.Option(help="the directory for event files  [default: one that is removed]")
    ] = None,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the event files of jobs in your own TensorBoard, while they run and after their end.

    Every file of any output directory with tfevents in its name is copied, of each job and attempt into a
    folder of its own; every 10 seconds what the jobs have added is appended. The command ends with
    TensorBoard, with its exit code, and Ctrl-C ends both. With --to, the next call goes on from what is
    there.
    """
    show = import_module("slipway.commands.tensorboard.tensorboard").show
    raise typer.Exit(show(jobs, to, context.meta[_PASSED], url, key))
