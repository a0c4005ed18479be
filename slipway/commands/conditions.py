"""The conditions on jobs, as options: a list has those that fit, and a cancellation ends them."""

from typing import Annotated

import typer

#: Their names, which are those of the API.
NAMES = (
    *("state", "name", "experiment", "label", "cluster", "source", "owner", "team", "sweep"),
    *("contains", "error", "since", "until"),
)

State = Annotated[str | None, typer.Option(help="active, or states separated by commas")]
Name = Annotated[str | None, typer.Option(help="a name; train-* matches every name that begins so")]
Experiment = Annotated[str | None, typer.Option(help="the experiment of the jobs")]
Label = Annotated[str | None, typer.Option(help="a label, as NAME or NAME=VALUE")]
Cluster = Annotated[str | None, typer.Option(help="the cluster of the jobs")]
Source = Annotated[
    str | None, typer.Option(help="drop, inventory, http, queue or rerun, separated by commas")
]
Owner = Annotated[str | None, typer.Option(help="the id of the caller who asked for the jobs")]
Team = Annotated[str | None, typer.Option(help="the team of the jobs")]
Sweep = Annotated[
    str | None, typer.Option(help="the sweep of the jobs: its id (or the beginning of it), its name, or last")
]
Contains = Annotated[
    str | None, typer.Option(metavar="WORDS", help="words in their names, ids or errors, in any case")
]
Error = Annotated[
    str | None, typer.Option(metavar="TEXT", help="a part of their errors, in any case; # for any number")
]
Since = Annotated[str | None, typer.Option(help="created since then: 2h, 7d, or 2026-11-20T10:00:00Z")]
Until = Annotated[str | None, typer.Option(help="created before then: 2h, 7d, or 2026-11-20T10:00:00Z")]


def given_as(*values: str | None) -> dict[str, str]:
    """The conditions that were written, from the values of all options in the order of `NAMES`."""
    return {name: value for name, value in zip(NAMES, values, strict=True) if value is not None}
