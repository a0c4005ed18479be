"""Jobs of a week, at the wire: an answer for each list, and what was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import Page, Route

from tests.browser.reader import answer_tagged

NOW = datetime.now(UTC).replace(microsecond=0)
LONG = "conformer-large-960h-specaugment-with-a-name-that-is-cut-in-its-middle-v12"
ACTIVE = {"running", "accepted", "submitting", "queued"}
_MARGIN = timedelta(minutes=1)


def written(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def after(at: datetime) -> str:
    """A millisecond later, as the page writes it."""
    return written((at + timedelta(milliseconds=1)).astimezone(UTC)).replace("000Z", "Z")


def job(number: int, state: str, at: datetime, **members: Any) -> dict[str, Any]:
    """A job that was created then, and has run for a minute if it has ended."""
    one: dict[str, Any] = {
        "id": f"job-{number:06}",
        "name": f"train-{number:03}",
        "door": "http",
        "state": state,
    }
    one |= {"attempt": 1, "generation": 1, "receipt": "runs/x", "createdAt": written(at), "cluster": "gpu"}
    one |= {"experiment": "vision", "owner": "ann@example.com", "team": "vision", "nodes": 2}
    if state not in ACTIVE:
        one["endedAt"] = written(at + _MARGIN)
    if state not in ("rejected", "accepted", "queued"):
        one["startedAt"] = written(at)
    return {**one, **members}


def failed(number: int, at: datetime, **members: Any) -> dict[str, Any]:
    """A failure with the cause that others have, too."""
    error = f"AssertionError: shard {number} is empty"
    alike = {"lastError": error, "signature": "AssertionError: shard # is empty"}
    return job(number, "failed", at, **{**alike, **members})


def noon(days: int) -> datetime:
    """The middle of a day so many days ago, in UTC."""
    return NOW.replace(hour=12, minute=0, second=0) - timedelta(days=days)


async def answer_week(page: Page, jobs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Answer lists of these jobs by state, owner and time; the queries, as they come."""
    queries: list[dict[str, str]] = []

    def fits(one: Mapping[str, Any], query: Mapping[str, str]) -> bool:
        states = set(query.get("state", "").split(",")) - {""}
        if "active" in states:
            states |= ACTIVE
        return (
            (not states or one["state"] in states)
            and query.get("owner", one.get("owner")) == one.get("owner")
            and query.get("contains", "") in one["name"]
            and one["createdAt"] >= query.get("since", "")
            and one["createdAt"] < query.get("until", "9")
        )

    async def answer(route: Route) -> None:
        queries.append(dict(parse_qsl(urlsplit(route.request.url).query)))
        chosen = [one for one in jobs if fits(one, queries[-1])]
        await route.fulfill(json={"jobs": chosen, "next": None})

    counts: dict[str, int] = {}
    for one in jobs:
        counts[one["state"]] = counts.get(one["state"], 0) + 1
    body = {"since": written(NOW - timedelta(days=1)), "counts": counts, "clusters": []}
    await page.route(re.compile(r"/api/jobs\?"), answer)
    await answer_tagged(page, "**/api/overview*", body)
    return queries


def trials(count: int = 12) -> list[dict[str, Any]]:
    """The jobs of a sweep over two parameters; the last but one has failed, the last runs."""
    states = ["succeeded"] * (count - 2) + ["failed", "running"]
    return [
        job(
            number,
            state,
            noon(0) - timedelta(hours=12, minutes=number),
            name=f"tune-{number:02}",
            sweep={"id": "s_1", "index": number, "values": _values(number)},
        )
        for number, state in enumerate(states)
    ]


async def answer_trials(page: Page, jobs: list[dict[str, Any]]) -> None:
    """The same with their curves: `loss` dips to 1 + the number of the job and ends higher, `score` rises."""
    counts = {"total": len(jobs), "parallel": 3, "atWork": 1, "waiting": 0}
    ends = {"succeeded": len(jobs) - 2, "failed": 1}
    sweep = {"sweepId": "s_1", "name": "tune", "state": "active", **counts, "counts": ends}
    await answer_tagged(page, "**/api/sweeps/s_1", sweep)
    await page.route(
        re.compile(r"/api/jobs\?"), lambda route: route.fulfill(json={"jobs": jobs, "next": None})
    )

    async def curves(route: Route) -> None:
        number = int(route.request.url.split("job-")[1][:6])
        last = 20 - number
        series = [
            _series("loss", [[1, 9.0], [2, 1.0 + number], [3, float(last)]]),
            _series("score", [[1, 0.1], [2, 0.5 + number / 100], [3, 0.2]]),
            {**_series("cpu_percent", [[1, 1]]), "file": "OUT/usage.jsonl"},
        ]
        await route.fulfill(json={"series": series, "next": "n", "more": False, "restarted": False})

    await page.route("**/api/jobs/job-*/metrics*", curves)


def _values(number: int) -> dict[str, Any]:
    return {"lr": 10.0 ** -(number % 4), "kind": "ab"[number % 2]}


def _series(name: str, points: list[list[float]]) -> dict[str, Any]:
    return {
        "name": name,
        "file": "stdouterr/stdout.txt",
        "axis": "epoch",
        "count": len(points),
        "points": points,
    }
