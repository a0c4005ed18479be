"""`slipway pause` and `slipway resume`: whether accepted jobs are submitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.commands.asking import asking, show, showing
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.failure import finding_out

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()


@app.command()
def pause(
    reason: Annotated[str, typer.Option(help="shown with every job that waits")] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pause submissions; accepted jobs wait until `resume`."""
    raise typer.Exit(showing(lambda api: api.pause(reason), _switch, url, key, as_json=as_json))


@app.command()
def resume(as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """Resume submissions after `pause`.

    The exit code is 1 if a setting still stops them, 125 without an answer.
    """

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
