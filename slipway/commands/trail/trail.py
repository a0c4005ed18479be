"""`slipway trail`: who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from slipway.client.service import Service
from slipway.commands.asking import asking, show
from slipway.terminal.screen import remark, table
from slipway.terminal.times import moment

if TYPE_CHECKING:
    from slipway.client import shapes

#: Acts of one answer.
_PAGE = 200


class _Acts(NamedTuple):
    acts: list[shapes.TrailAct]
    unreadable: int


def run(
    url: str,
    key: str,
    conditions: Mapping[str, str],
    limit: int,
    *,
    utc: bool = False,
    as_json: bool = False,
) -> int:
    """Print a line for each act. Raises Failure."""

    async def ask(api: Service) -> int:
        answer = await read(api, conditions, limit)
        show(answer.acts, partial(lines, utc=utc), as_json=as_json)
        if answer.unreadable:
            remark(f"damaged lines of the trail that were skipped: {answer.unreadable}")
        return 0

    return asking(ask, url, key)


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
            one["subject"] or one.get("result", "").rpartition("/")[2],
            one.get("team", ""),
            str(one["status"]),
        )
        for one in reversed(acts)
    ]
    return table([("time", "who", "act", "about", "team", "status"), *cells])
