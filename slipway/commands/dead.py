"""`slipway dead`: the letters that no door or receiver took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.commands.asking import asking, showing
from slipway.commands.options import LOCAL, Json, Key, Url, Utc
from slipway.failure import Failure
from slipway.terminal.screen import put, put_json, say, table
from slipway.terminal.times import moment

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer(
    name="dead",
    help="Inspect and redrive dead letters.",
    no_args_is_help=True,
)

#: What becomes of a dead letter, by what it is.
_REDRIVEN = {"message": "goes back to its queue", "gone": "is not dead any more: it was sent again"}


@app.command("list")
def list_(utc: Utc = False, as_json: Json = False, url: Url = LOCAL, key: Key = "") -> None:
    """List dead letters with the reason."""
    raise typer.Exit(showing(lambda api: api.dead(), partial(rows, utc=utc), url, key, as_json=as_json))


@app.command()
def redrive(
    what: Annotated[
        list[str], typer.Argument(metavar="ID…", help="ids from `dead list`, d_… or evt_…; or all")
    ],
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Send dead messages back through their door, and dead events to their receivers, under the same ids."""

    async def ask(api: Service) -> int:
        ids = [one["id"] for one in await api.dead()] if what == ["all"] else what
        if not ids and not as_json:
            put(*rows([]))
        return await redrive_each(api, ids, as_json=as_json)

    raise typer.Exit(asking(ask, url, key))


async def redrive_each(api: Service, ids: Sequence[str], *, as_json: bool = False) -> int:
    """Redrive each dead letter. One of several that fails does not stop the others; then 1."""
    code = 0
    redriven: list[Mapping[str, Any]] = []
    for one in ids:
        try:
            kind = await api.redrive(one)
        except Failure as failure:
            if as_json and len(ids) == 1:
                raise
            say(f"{one}: {failure}")
            redriven.append({"id": one, "error": failure.for_programs()})
            code = 1
        else:
            redriven.append({"id": one, "kind": kind})
            if not as_json:
                put(f"{one}  {_REDRIVEN.get(kind, 'goes out again')}")
    if as_json:
        put_json(redriven)
    return code


def rows(messages: Sequence[Mapping[str, Any]], *, utc: bool = False) -> list[str]:
    """The lines of a table of dead letters."""
    if not messages:
        return ["there are no dead letters"]
    lines = [
        (one["id"], one.get("job") or one["queue"], moment(one["since"], utc=utc), one["reason"])
        for one in messages
    ]
    return table([("id", "of", "since", "reason"), *lines])
