"""`slipway costs`: the usage and cost of ended jobs, in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from slipway.client.jobs.words import amount
from slipway.commands.asking import asking, show
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.terminal.screen import remark, table

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()

By = Literal["job", "name", "experiment", "cluster", "team", "owner", "month"]
#: The most jobs of one sum: the service returns 200 in an answer.
_MOST = 20_000
_ENDED = "succeeded,failed,cancelled,lost"
_NUMBERS = ("nodeHours", "gpuHours", "cost")
#: Criterion → the group of a job.
BY: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "job": lambda job: f"{job['id'][:10]} {job['name']}",
    "name": lambda job: job["name"],
    "experiment": lambda job: job.get("experiment", ""),
    "cluster": lambda job: job.get("cluster", ""),
    "team": lambda job: job.get("team", ""),
    "owner": lambda job: job.get("owner", ""),
    "month": lambda job: job["endedAt"][:7],
}
Job = Mapping[str, Any]


@app.command(short_help="Show what jobs used and cost.")
def costs(
    by: Annotated[By, typer.Option(help="what to sum by")] = "experiment",
    since: Annotated[str, typer.Option(help="created since then: 2h, 7d, or 2026-11-20T10:00:00Z")] = "30d",
    experiment: Annotated[str | None, typer.Option(help="the experiment of the jobs")] = None,
    cluster: Annotated[str | None, typer.Option(help="the cluster of the jobs")] = None,
    team: Annotated[str | None, typer.Option(help="the team of the jobs")] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show what the jobs used that have ended: node-hours, GPU-hours, and money where the price is known."""
    named = {"since": since, "experiment": experiment, "cluster": cluster, "team": team}
    conditions = {name: text for name, text in named.items() if text is not None}

    async def ask(api: Service) -> int:
        listing = await api.jobs({"state": _ENDED, **conditions}, _MOST)
        show(summed(listing.jobs, by), lambda rows: lines(rows, by), as_json=as_json)
        if listing.next:
            remark(f"only the newest {_MOST} jobs are counted; name a later --since for a whole sum")
        return 0

    raise typer.Exit(asking(ask, url, key))


def summed(jobs: Iterable[Job], by: str) -> list[dict[str, Any]]:
    """The usage of each group, the most expensive group first, then the one with the most node-hours."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for job in jobs:
        used = job.get("usage")
        if not used:
            continue
        name, currency = BY[by](job), used.get("currency", "")
        row = groups.setdefault(
            (name, currency), {by: name, "currency": currency, "jobs": 0, **dict.fromkeys(_NUMBERS, 0.0)}
        )
        row["jobs"] += 1
        for number in _NUMBERS:
            row[number] += used.get(number, 0.0)
    rows = sorted(groups.values(), key=lambda row: (-row["cost"], -row["nodeHours"], row[by]))
    return [{**row, **{number: round(row[number], 6) for number in _NUMBERS}} for row in rows]


def lines(rows: list[dict[str, Any]], by: str) -> list[str]:
    """A table of them."""
    if not rows:
        return ["no job that fits has ended and run"]
    cells = [
        (
            row[by] or "none",
            str(row["jobs"]),
            amount(row["nodeHours"]),
            amount(row["gpuHours"]),
            f"{amount(row['cost'])} {row['currency']}" if row["currency"] else "no price known",
        )
        for row in rows
    ]
    return table([(by, "jobs", "node-hours", "GPU-hours", "cost"), *cells])
