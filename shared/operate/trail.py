"""trail: who did what, the newest act first. Read-only.

The trail is read from its end in chunks, so that a page costs the same however long the trail is.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.core.caller import ADMIN, Caller
from shared.core.errors import Misuse
from shared.core.identity import is_job_id, is_sweep_id
from shared.core.ledger.activity import Act, Activity, act_of
from shared.core.ports import Ports
from shared.lifecycle.current_teams import current_teams

#: Bytes of one read; requests to storage for one page: each lists the hours of a day, or reads.
CHUNK, MOST_REQUESTS = 256 << 10, 24
_LARGEST_PAGE = 200
_LIMIT = re.compile(r"[0-9]{1,3}", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_POSITION = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2})\.([0-9]{1,15})", re.ASCII)


@dataclass
class TrailPage:
    """Some acts, the newest first."""

    acts: list[Act] = field(default_factory=list)
    #: lines that are torn, or that Slipway did not write
    unreadable: int = 0
    #: where the page after it begins; "" at the end of the trail
    next: str = ""


class _Position(NamedTuple):
    """A position in the trail: all that stands before it is older."""

    day: str
    hour: str
    end: int

    def __str__(self) -> str:
        return f"{self.day}T{self.hour}.{self.end}"


class _Line(NamedTuple):
    position: _Position
    #: None for the end of what one page may read
    text: bytes | None


async def trail(ports: Ports, parameters: Mapping[str, str], who: Caller) -> TrailPage:
    """The acts that match and that the caller may see: operators all, managers those of their teams.

    `by`, `operation`, `team`; `about`: the id of a job, a sweep or an event; `day`; `limit`: 1 to 200;
    `after`: the `next` of an earlier page. A page may be short, and still have a `next`. Raises Misuse.
    """
    teams = None if ADMIN in who.roles else {name for name, manager in who.teams.items() if manager}
    if teams is not None and not teams:
        who.needs(ADMIN)
    limit, day, page = _limit(parameters), _day(parameters), TrailPage()
    async for position, text in _lines(ports.activity, _page_start(parameters), day):
        if text is None or len(page.acts) == limit:
            page.next = str(position)
            break
        try:
            act = act_of(text)
        except ValueError:
            page.unreadable += teams is None
            continue
        if _matches(act, parameters) and (teams is None or act.team in teams):
            page.acts.append(act)
    return page


def _matches(act: Act, parameters: Mapping[str, str]) -> bool:
    equal = all(parameters.get(name) in (None, getattr(act, name)) for name in ("by", "operation", "team"))
    return equal and ("about" not in parameters or act.concerns(parameters["about"]))


async def _lines(activity: Activity, after: _Position | None, only: str | None) -> AsyncIterator[_Line]:
    """Lines with the position of their ends, the newest first; then one without a text, if it is too much."""
    requests = 0
    for day in sorted(await activity.days(), reverse=True):
        if (only and day != only) or (after and day > after.day):
            continue
        if requests >= MOST_REQUESTS:
            yield _Line(_Position(day, "23", 10**15 - 1), None)
            return
        requests += 1
        for hour, size in sorted(await activity.hours(day), reverse=True):
            if after and (day, hour) > (after.day, after.hour):
                continue
            end = min(size, after.end) if after and (day, hour) == (after.day, after.hour) else size
            while end > 0:
                if requests > MOST_REQUESTS:
                    yield _Line(_Position(day, hour, end), None)
                    return
                requests += 1
                start = max(0, end - CHUNK)
                data = await activity.read(day, hour, start, end)
                for end, text in _backwards(data, start):
                    if text:
                        yield _Line(_Position(day, hour, end + len(text) + 1), text)


class _Text(NamedTuple):
    at: int
    text: bytes


def _backwards(data: bytes, start: int) -> Iterator[_Text]:
    """The lines of a chunk that begins at `start`, the last one first.

    What stands before the first end of a line is left to the next chunk, unless the trail begins there, or
    it is longer than a chunk: then it is a line of its own, which cannot be read.
    """
    texts = data.removesuffix(b"\n").split(b"\n")
    at = start + len(data.removesuffix(b"\n"))
    whole = texts if start == 0 or len(texts) == 1 else texts[1:]
    for text in reversed(whole):
        at -= len(text)
        yield _Text(at, text)
        at -= 1


def _limit(parameters: Mapping[str, str]) -> int:
    text = parameters.get("limit", "50")
    number = int(text) if _LIMIT.fullmatch(text) else 0
    if not 1 <= number <= _LARGEST_PAGE:
        raise Misuse(f"limit must be a number from 1 to {_LARGEST_PAGE}", remedy="e.g. ?limit=50")
    return number


def _day(parameters: Mapping[str, str]) -> str | None:
    day = parameters.get("day")
    if day is not None and not _DAY.fullmatch(day):
        raise Misuse(f"day={day[:40]!r} is not a day in UTC", remedy="e.g. ?day=2026-11-25")
    return day


def _page_start(parameters: Mapping[str, str]) -> _Position | None:
    if (text := parameters.get("after")) is None:
        return None
    if not (match := _POSITION.fullmatch(text)):
        raise Misuse(f"after={text[:40]!r} is not the `next` of a page", remedy="leave it out for the newest")
    return _Position(match[1], match[2], int(match[3]))


async def team_concerned(ports: Ports, subject: str, result: str) -> str:
    """The team of the job or sweep that an act was about, or made; "" for other acts. Costs a point read.

    Without teams it costs nothing. Raises SlipwayError.
    """
    if not (await current_teams(ports)).teams:
        return ""
    for one in (result.rpartition("/")[2], subject):
        if is_job_id(one) and (stored := await ports.ledger.get(one)):
            return stored.job.team
        if is_sweep_id(one) and (sweep := await ports.job_sweeps.get(one)):
            return sweep.sweep.team
    return ""
