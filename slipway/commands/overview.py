"""`slipway overview`: what runs, waits and failed, what is free, and what was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import typer

from slipway.client.jobs.words import amount
from slipway.commands.asking import showing
from slipway.commands.options import LOCAL, Json, Key, Url, Utc
from slipway.terminal.screen import table
from slipway.terminal.times import moment

app = typer.Typer()

Scope = Literal["mine", "team", "all"]
_WAITING = ("accepted", "submitting", "queued")


@app.command(short_help="Show what runs, waits and failed.")
def overview(
    scope: Annotated[
        Scope, typer.Option(help="your jobs, those of your teams, too, or all that you see")
    ] = "all",
    since: Annotated[str, typer.Option(help="jobs that ended since then: 2h, 7d, or a time")] = "24h",
    utc: Utc = False,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show jobs by state, why they wait, which errors they failed with, nodes, and use of the month."""
    question = {"scope": scope, "since": since}
    code = showing(lambda api: api.overview(question), partial(lines, utc=utc), url, key, as_json=as_json)
    raise typer.Exit(code)


def lines(answer: Mapping[str, Any], *, utc: bool = False) -> list[str]:
    """The answer for people: a sentence, and a table for each list that has an entry."""
    tables = [_waiting(answer, utc), _failures(answer, utc), _nodes(answer), _use(answer)]
    return [_counts(answer, utc), *(line for rows in tables if len(rows) > 1 for line in ("", *table(rows)))]


def _counts(answer: Mapping[str, Any], utc: bool) -> str:
    counts = dict(answer["counts"])
    running, waiting = counts.pop("running", 0), sum(counts.pop(state, 0) for state in _WAITING)
    ended = ", ".join(f"{number:,} {state}" for state, number in counts.items()) or "none ended"
    return f"{running:,} running, {waiting:,} waiting; {ended} since {moment(answer['since'], utc=utc)}"


Rows = list[Sequence[str]]


def _waiting(answer: Mapping[str, Any], utc: bool) -> Rows:
    rows = [
        (
            f"{one['jobs']:,}",
            one["text"] or "the reason is not known yet",
            f"{one['oldest']['name']}, since {moment(one['oldest']['at'], utc=utc)}",
            one["next"]["name"],
        )
        for one in answer["waiting"]
    ]
    return [("waiting", "why", "the oldest", "the next"), *rows]


def _failures(answer: Mapping[str, Any], utc: bool) -> Rows:
    rows = [
        (
            f"{one['jobs']:,}",
            one["signature"] or one["state"],
            f"{one['last']['name']}, {moment(one['last']['at'], utc=utc)}",
            one["last"]["id"],
        )
        for one in answer["failures"]
    ]
    return [("failed", "error", "the last", "its id"), *rows]


def _nodes(answer: Mapping[str, Any]) -> Rows:
    rows = [
        (
            one["name"],
            "not known"
            if one["nodes"] is None
            else ", ".join(f"{number} {state}" for state, number in one["nodes"].items() if number) or "none",
        )
        for one in answer["clusters"]
    ]
    return [("cluster", "nodes"), *rows]


def _use(answer: Mapping[str, Any]) -> Rows:
    rows = [
        (
            one["team"] or "(no team)",
            str(one["jobs"]),
            amount(one["gpuHours"]) + (f" of {one['limitGpuHours']:,g}" if "limitGpuHours" in one else ""),
            amount(one["reservedGpuHours"]),
            amount(one["cost"]) + (f" of {one['budget']:,g}" if "budget" in one else ""),
        )
        for one in answer["use"]
    ]
    head = ("team", "at work", f"GPU-hours in {answer['month']}", "reserved", f"cost in {answer['currency']}")
    return [head, *rows]
