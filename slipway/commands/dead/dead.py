"""The commands for dead letters: list, redrive."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from slipway.client.service import Service
from slipway.commands.asking import asking, show
from slipway.failure import Failure
from slipway.terminal.screen import put, put_json, say, table
from slipway.terminal.times import moment

#: What becomes of a dead letter, by what it is.
_REDRIVEN = {"message": "goes back to its queue", "gone": "is not dead any more: it was sent again"}


def list_dead(url: str, key: str, *, utc: bool = False, as_json: bool = False) -> int:
    """Print the dead letters, one on each line, or as JSON."""

    async def ask(api: Service) -> int:
        show(await api.dead(), partial(rows, utc=utc), as_json=as_json)
        return 0

    return asking(ask, url, key)


def redrive(what: Sequence[str], url: str, key: str, *, as_json: bool = False) -> int:
    """Redrive some dead letters, or `all`; 1 if one of them cannot be redriven."""

    async def ask(api: Service) -> int:
        ids = [one["id"] for one in await api.dead()] if list(what) == ["all"] else what
        if not ids and not as_json:
            put(*rows([]))
        return await redrive_each(api, ids, as_json=as_json)

    return asking(ask, url, key)


async def redrive_each(api: Service, ids: Sequence[str], *, as_json: bool = False) -> int:
    """Redrive each dead letter. One that fails does not stop the others; then 1."""
    code, redriven = 0, []
    for one in ids:
        try:
            kind = await api.redrive(one)
        except Failure as failure:
            say(f"{one}: {failure}")
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
