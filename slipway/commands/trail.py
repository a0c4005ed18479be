"""`slipway trail`: who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from slipway.commands.asking import asking, show
from slipway.commands.options import LOCAL, Json, Key, Url, Utc
from slipway.terminal.screen import remark, table
from slipway.terminal.times import moment

if TYPE_CHECKING:
    from slipway.client import shapes
    from slipway.client.service import Service

app = typer.Typer()

#: Acts of one answer.
_PAGE = 200


@app.command(short_help="Show who did what.")
def trail(
    by: Annotated[str | None, typer.Option(help="the id of a caller, or the name of a key")] = None,
    operation: Annotated[str | None, typer.Option(help="as in the API's description: cancel_job")] = None,
    about: Annotated[str | None, typer.Option(help="the id of a job, a sweep or an event")] = None,
    team: Annotated[str | None, typer.Option(help="the team of the jobs")] = None,
    day: Annotated[str | None, typer.Option(help="a day in UTC: 2026-11-25")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="how many acts, at most")] = 20,
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show who did what, the newest act last: each request that changed something, or was forbidden to.

    Operators see all acts, managers those on jobs of their teams.
    """
    named = {"by": by, "operation": operation, "about": about, "team": team, "day": day}
    conditions = {name: text for name, text in named.items() if text is not None}

    async def ask(api: Service) -> int:
        answer = await read(api, conditions, limit)
        show(answer.acts, partial(lines, utc=utc), as_json=as_json)
        if answer.unreadable:
            remark(f"damaged lines of the trail that were skipped: {answer.unreadable}")
        return 0

    raise typer.Exit(asking(ask, url, key))


class _Acts(NamedTuple):
    acts: list[shapes.TrailAct]
    unreadable: int


async def read(api: Service, conditions: Mapping[str, str], limit: int) -> _Acts:
    """The newest matching acts, in as many pages as needed."""
    acts: list[shapes.TrailAct] = []
    query, unreadable = dict(conditions), 0
    while len(acts) < limit:
        query["limit"] = str(min(limit - len(acts), _PAGE))
        page = await api.trail(query)
        acts += page["acts"]
        unreadable += page["unreadable"]
        following = page["next"]
        if not following or following == query.get("after"):
            break
        query["after"] = following
    return _Acts(acts, unreadable)


def lines(acts: Sequence[shapes.TrailAct], *, utc: bool = False) -> list[str]:
    """A table of acts, the newest last, as in a log."""
    if not acts:
        return ["no act matches"]
    cells = [
        (
            moment(one["at"], utc=utc),
            one["by"],
            one["operation"],
            _subject_of(one),
            one.get("team", ""),
            str(one["status"]),
        )
        for one in reversed(acts)
    ]
    return table([("time", "who", "act", "about", "team", "status"), *cells])


def _subject_of(act: shapes.TrailAct) -> str:
    subject = act["subject"] or act.get("result", "").rpartition("/")[2]
    return f"{subject}: {act['detail']}" if act.get("detail") else subject
