"""listing: the jobs that match a caller's conditions. Read-only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse
from shared.core.job import JobState
from shared.core.ledger.failures import FAILURES
from shared.core.ledger.listing import Label, Page, Query
from shared.core.ports import Engines, Ports

_LARGEST_PAGE = 200
_LIMIT = re.compile(r"[0-9]{1,3}", re.ASCII)
_AGO = re.compile(r"([0-9]{1,5})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
ACTIVE = frozenset(state for state in JobState if not state.terminal)
DOORS = ("drop", "inventory", "http", "queue", "rerun")
#: The orders of a list, and the longest text that is searched for.
ORDERS = ("created", "ended")
_LONGEST_TEXT = 200


def cut_at(moment: datetime) -> dict[str, str]:
    """What a page says whose search reached the bounds of one request at this moment."""
    text = f"the search has looked back to {moment:%Y-%m-%d %H:%M} UTC: it continues at `next`"
    return {"note": text, "searchedTo": moment.isoformat().replace("+00:00", "Z")}


async def jobs(ports: Ports, parameters: Mapping[str, str], who: Caller = KEY_HOLDER) -> Page:
    """The jobs that the caller may see and that match, newest first. Raises Misuse.

    `state`: one or more with commas, or `active`; `name`: a * at its end matches any ending; `label`: a name,
    or name=value; `source`: doors with commas; `owner`: the id of a caller; `contains`: words in their names,
    ids and errors; `error`: a part of their errors; `since`, `until`: a moment, or how long ago; `order`:
    `ended` for those that have ended, the last end first; `limit`: 1 to 200.
    """
    number = limit_of(parameters)
    query = selected(ports, parameters, who)
    return await ports.ledger.find(query, limit=number, after=parameters.get("after")) if query else Page(())


def limit_of(parameters: Mapping[str, str]) -> int:
    """How many an answer may have. Raises Misuse."""
    limit = parameters.get("limit", "50")
    number = int(limit) if _LIMIT.fullmatch(limit) else 0
    if not 1 <= number <= _LARGEST_PAGE:
        raise Misuse(f"limit must be a number from 1 to {_LARGEST_PAGE}", remedy="e.g. ?limit=50")
    return number


def selected(ports: Ports, parameters: Mapping[str, str], who: Caller) -> Query | None:
    """The conditions, for jobs that the caller may see; None if no job can be one. Raises Misuse."""
    query = query_of(parameters, ports.clock())
    if not who.sees_all:
        if not who.teams and query.owner not in ("", who.source):
            return None  # other owners' jobs are not visible to the caller
        query = replace(query, seen_by=who)
    return replace(query, cluster=_cluster_spelling(ports.engines, query.cluster))


def query_of(parameters: Mapping[str, str], now: datetime) -> Query:
    """The conditions of a list. Raises Misuse."""
    owner, error = parameters.get("owner", ""), text_of(parameters, "error")
    states = frozenset().union(*map(_states, _words(parameters, "state")))
    return Query(
        states=states or (FAILURES if error else states),  # no other job has an error
        name=_name_pattern(parameters.get("name", "")),
        experiment=parameters.get("experiment", ""),
        cluster=parameters.get("cluster", ""),
        label=_label(parameters["label"]) if "label" in parameters else None,
        doors=frozenset(map(_door, _words(parameters, "source"))),
        contains=text_of(parameters, "contains"),
        error=error,
        since=moment("since", parameters["since"], now) if "since" in parameters else None,
        until=moment("until", parameters["until"], now) if "until" in parameters else None,
        by_end=_order(parameters.get("order", "created")) == "ended",
        owner=Caller(owner).source if owner else "",
        team=parameters.get("team", ""),
        sweep=parameters.get("sweep", ""),
    )


def _cluster_spelling(engines: Engines, cluster: str) -> str:
    """The spelling of a cluster in records: jobs may name it in any case."""
    names = (name for name in engines.clusters if name.lower() == cluster.lower())
    return next(names, cluster)


def _name_pattern(name: str) -> str:
    if "*" in name[:-1]:
        raise Misuse("a * may only be at the end of a name", remedy="e.g. ?name=train-*")
    return name


def _words(parameters: Mapping[str, str], name: str) -> list[str]:
    return parameters[name].split(",") if name in parameters else []


def _states(word: str) -> frozenset[JobState]:
    if word == "active":
        return ACTIVE
    if word not in list(JobState):
        names = ", ".join(JobState)
        raise Misuse(f"there is no state {word[:40]!r}", remedy=f"use active, or some of: {names}")
    return frozenset({JobState(word)})


def _order(word: str) -> str:
    if word not in ORDERS:
        raise Misuse(f"there is no order {word[:40]!r}", remedy=f"use one of: {', '.join(ORDERS)}")
    return word


def text_of(parameters: Mapping[str, str], name: str) -> str:
    """A text that is looked for. Raises Misuse."""
    text = parameters.get(name, "").strip()
    if name in parameters and not 1 <= len(text) <= _LONGEST_TEXT:
        raise Misuse(
            f"{name} has {len(text)} characters, without the blanks around them",
            remedy=f"search for 1 to {_LONGEST_TEXT} characters",
        )
    return text


def _door(word: str) -> str:
    if word not in DOORS:
        raise Misuse(f"there is no source {word[:40]!r}", remedy=f"use some of: {', '.join(DOORS)}")
    return word


def _label(text: str) -> Label:
    name, equals, value = text.partition("=")
    if not name:
        raise Misuse("a label has a name", remedy="e.g. label=team or label=team=vision")
    return Label(name, value if equals else None)


def moment(name: str, text: str, now: datetime) -> datetime:
    """The moment that a parameter gives: a time, or how long ago. Raises Misuse."""
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None:
        raise Misuse(
            f"{name}={text[:40]!r} is neither a time nor a duration",
            remedy="e.g. 2h, 7d, or 2026-11-20T10:00:00Z (a + in an address is written %2B)",
        )
    return when if when.tzinfo else when.replace(tzinfo=UTC)
