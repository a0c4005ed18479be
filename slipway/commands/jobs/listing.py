"""`slipway jobs`: the newest matching jobs, once, or again as they change."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from slipway.client.calls.answers import Listed
from slipway.client.jobs.naming import with_sweep
from slipway.client.jobs.quick import quick_list
from slipway.client.jobs.words import why
from slipway.commands.asking import asking, show
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import RESET, coloured
from slipway.terminal.screen import cells, cut, padded, put, put_json, remark, table
from slipway.terminal.times import age, moment

if TYPE_CHECKING:
    from slipway.client.service import Service

#: Seconds between two looks: each is one request.
_EVERY = 2.0
#: The fewest columns of an id that every command understands, of a name, and of a line.
_ID, _NAME, _NARROWEST = 10, 16, 60
#: Home, and the rest of the screen cleared.
_REDRAW = "\x1b[H\x1b[J"
_COLOURS = {"succeeded": 32, "failed": 31, "lost": 31, "rejected": 31, "running": 36, "cancelled": 2}

Job = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """How a list looks. `width`: characters of the terminal; None for a file or a pipe, which gets all."""

    width: int | None = None
    height: int = 0
    colour: bool = False
    utc: bool = False


def view(*, utc: bool) -> View:
    """How a list is printed to standard output: its width and colour if that is a terminal."""
    if not sys.stdout.isatty():
        return View(utc=utc)
    size = shutil.get_terminal_size()
    return View(max(size.columns, _NARROWEST), size.lines, coloured(sys.stdout), utc)


def conditions(named: Mapping[str, str], *, failed: bool) -> dict[str, str]:
    """The conditions of the list. Raises Failure if both `--failed` and `--state` are given."""
    if failed and "state" in named:
        raise Failure("--failed and --state exclude each other; --failed is --state failed,lost", USAGE)
    return {**named, **({"state": "failed,lost"} if failed else {})}


def jobs(
    url: str, key: str, conditions: Mapping[str, str], limit: int, view: View, *, as_json: bool = False
) -> int:
    """Show the newest jobs that fit the conditions; standard error shows how to list more."""

    def shown(listing: Listed) -> int:
        rows = partial(lines, view=view) if listing.jobs else lambda _: [_none(conditions, listing)]
        show(listing.jobs, rows, as_json=as_json, colour=view.colour)
        if listing.searched_to:
            remark(f"looked back to {moment(listing.searched_to, utc=view.utc)}")
        if listing.next:
            remark(more(listing.next, view))
        return 0

    async def ask(api: Service) -> int:
        return shown(await api.search(await with_sweep(api, conditions), limit))

    quick = None if "sweep" in conditions else quick_list(url, key, conditions, limit)
    return shown(quick) if quick is not None else asking(ask, url, key)


def _none(conditions: Mapping[str, str], listing: Listed) -> str:
    """The message if no job is listed."""
    if listing.searched_to:
        return "no job has matched so far"
    if conditions.keys() == {"after"}:
        return "there are no more jobs"
    return "no job matches these conditions; `slipway jobs` lists all" if conditions else "there are no jobs"


def more(following: str, view: View) -> str:
    """How to list more jobs; in two lines if the terminal is too narrow for one."""
    line = f"more: slipway jobs … --after '{following}'"
    if view.width is None or len(line) <= view.width:
        return line
    return line.replace(" '", " \\\n  '")


def watch(url: str, key: str, conditions: Mapping[str, str], limit: int, view: View, *, as_json: bool) -> int:
    """Show them until Ctrl-C: a terminal is drawn anew, elsewhere each change of a state is a line.

    With `as_json` each job whose state is another than before is an object on a line.
    """
    import asyncio  # one list needs no loop

    from slipway.client.calls.patience import patiently

    async def ask(api: Service) -> int:
        states: dict[str, str] = {}
        chosen = await with_sweep(api, conditions)
        listing = await api.search(chosen, limit)  # fails at once if nothing answers
        while True:
            if as_json:
                for job in jobs_in_new_states(listing.jobs, states):
                    put_json(job, indent=None)
            else:
                _draw(listing, view, states, _none(conditions, listing))
            await asyncio.sleep(_EVERY)
            listing = await patiently(lambda: api.search(chosen, limit))

    try:
        return asking(ask, url, key)
    except KeyboardInterrupt:
        return 0


def _draw(listing: Listed, view: View, states: dict[str, str], none: str) -> None:
    if view.width is not None:
        shown = (lines(listing.jobs, view) if listing.jobs else [none])[: max(2, view.height - 1)]
        sys.stdout.write(_REDRAW)
        put(*shown, colour=view.colour)
    else:
        put(*news(listing.jobs, states))


def jobs_in_new_states(jobs: Sequence[Job], states: dict[str, str]) -> list[Job]:
    """Each job whose state has changed, the oldest first; remembers the states."""
    others = [job for job in reversed(jobs) if states.get(job["id"]) != job["state"]]
    states |= {job["id"]: job["state"] for job in others}
    return others


def news(jobs: Sequence[Job], states: dict[str, str]) -> list[str]:
    """A line for each job whose state has changed, the oldest first; remembers the states."""
    return [
        f"{job['id']}  {job['name']}: {job['state']}" + (f": {why(job)}" if why(job) else "")
        for job in jobs_in_new_states(jobs, states)
    ]


def lines(jobs: Sequence[Job], view: View, now: datetime | None = None) -> list[str]:
    """Jobs as a table, cut to the terminal's width; a pipe gets each one whole."""
    if not jobs:
        return ["there are no jobs"]
    if view.width is None:
        return _whole(jobs, view)
    now = now or datetime.now(UTC)
    rows = [("id", "name", "state", "created" if view.utc else "age")]
    for job in jobs:
        created = moment(job["createdAt"], utc=True) if view.utc else age(job["createdAt"], now)
        rows.append((job["id"][:_ID], cut(job["name"], _NAME), job["state"], created))
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = view.width - sum(widths) - 2 * len(widths)
    reasons = ["why", *(cut(why(job, utc=view.utc), room) for job in jobs)]
    return [
        _row(row, reason, widths, view.colour)
        for row, reason in zip(rows, reasons if room > 2 else [""] * len(rows), strict=True)
    ]


def _row(row: Sequence[str], reason: str, widths: Sequence[int], colour: bool) -> str:
    columns = [padded(cell, width) for cell, width in zip(row, widths, strict=True)]
    number = _COLOURS.get(row[2])
    if colour and number:
        columns[2] = f"\x1b[{number}m{row[2]}{RESET}" + " " * (widths[2] - len(row[2]))
    text = "  ".join([*columns, reason]).rstrip()
    return f"\x1b[1m{text}{RESET}" if colour and row[0] == "id" else text


def _whole(jobs: Sequence[Job], view: View) -> list[str]:
    head = ("id", "name", "door", "state", "created", "message")
    rows = [
        (
            job["id"],
            job["name"],
            job["door"],
            job["state"],
            moment(job["createdAt"], utc=view.utc),
            why(job, utc=view.utc),
        )
        for job in jobs
    ]
    return table([head, *rows])
