"""`slipway priority`: another priority for a job that waits."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from slipway.commands.options import LOCAL, JobId, Json, Key, Url
from slipway.commands.priority.change import changing_job

app = typer.Typer()


class Level(StrEnum):
    """The priorities of a job."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@app.command(short_help="Change the priority of a job that waits.")
def priority(
    job: JobId,
    level: Annotated[Level, typer.Argument(metavar="low|normal|high", help="the priority that it gets")],
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Change the priority of a job that waits, in its team's line and on its cluster.

    A job that a cluster has in its queue keeps the priority that it has there.
    """
    raise typer.Exit(
        changing_job(job, lambda api, one: api.set_priority(one, level.value), url, key, as_json)
    )
