"""`slipway pause` and `slipway resume`: whether accepted jobs are submitted, or one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.commands.asking import asking, show, showing
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.commands.priority.change import changing_job
from slipway.failure import finding_out

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


@app.command(short_help="Pause submissions, or one job that waits.")
def pause(
    job: _One = "",
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pause submissions; accepted jobs wait until `resume`. With JOB, only that one waits.

    A job that a cluster has in its queue, or that runs, is not paused.
    """
    if job:
        raise typer.Exit(changing_job(job, lambda api, one: api.pause_job(one, reason), url, key, as_json))
    raise typer.Exit(showing(lambda api: api.pause(reason), _switch, url, key, as_json=as_json))


@app.command(short_help="Resume submissions after `pause`, or one job.")
def resume(job: _One = "", as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Resume submissions after `pause`, or one job after `pause JOB`.

    Without JOB, the exit code is 1 if a setting still stops them, 125 without an answer.
    """
    if job:
        raise typer.Exit(changing_job(job, lambda api, one: api.resume_job(one), url, key, as_json))

    async def ask(api: Service) -> int:
        answer = await api.resume()
        show(answer, _switch, as_json=as_json)
        return 1 if answer["paused"] else 0

    with finding_out():
        raise typer.Exit(asking(ask, url, key))


def _switch(answer: Mapping[str, Any]) -> list[str]:
    if not answer["paused"]:
        return ["submissions resume; the next pass submits the waiting jobs"]
    reason = f": {answer['reason']}" if answer["reason"] else ""
    return [f"submissions are paused by {answer['by']}{reason}"]
