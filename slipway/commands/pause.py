"""`slipway pause` and `slipway resume`: whether accepted jobs are submitted, or one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.commands.asking import asking, show, showing
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.commands.priority.change import changing_job
from slipway.failure import USAGE, Failure, finding_out

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()


_One = Annotated[
    str,
    typer.Argument(
        metavar="[JOB]",
        help="only this job: its id (or the beginning of it), its name, or last",
        show_default=False,
    ),
]


_All = Annotated[bool, typer.Option("--all", help="all jobs of the deployment")]


@app.command(short_help="Pause one job that waits, or all submissions.")
def pause(
    job: _One = "",
    every: _All = False,
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pause a job that waits; with --all, all submissions: accepted jobs wait until `resume`.

    A job that a cluster has in its queue, or that runs, is not paused.
    """
    if _is_one(job, every):
        raise typer.Exit(changing_job(job, lambda api, one: api.pause_job(one, reason), url, key, as_json))
    raise typer.Exit(showing(lambda api: api.pause(reason), _switch, url, key, as_json=as_json))


@app.command(short_help="Resume one job after `pause`, or all submissions.")
def resume(
    job: _One = "", every: _All = False, as_json: Json = False, url: Url = LOCAL, key: Key = ""
) -> None:
    """Resume a job after `pause JOB`, or submissions after `pause --all`.

    With --all, the exit code is 1 if a setting still stops them, 125 without an answer.
    """
    if _is_one(job, every):
        raise typer.Exit(changing_job(job, lambda api, one: api.resume_job(one), url, key, as_json))

    async def ask(api: Service) -> int:
        answer = await api.resume()
        show(answer, _switch, as_json=as_json)
        return 1 if answer["paused"] else 0

    with finding_out():
        raise typer.Exit(asking(ask, url, key))


def _is_one(job: str, every: bool) -> bool:
    """Whether it is about one job. An empty variable of a script is not all jobs: raises Failure."""
    if bool(job) == every:
        raise Failure("name either a job or --all", USAGE)
    return not every


def _switch(answer: Mapping[str, Any]) -> list[str]:
    if not answer["paused"]:
        return ["submissions resume; the next pass submits the waiting jobs"]
    reason = f": {answer['reason']}" if answer["reason"] else ""
    return [f"submissions are paused by {answer['by']}{reason}"]
