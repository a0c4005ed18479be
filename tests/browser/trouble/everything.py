"""Every view with something in it, at the wire, and what can be answered in the API's place."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page, Route

from tests.browser.one_job.live import live
from tests.browser.overview.answers import busy
from tests.browser.reader import answer_tagged, listed

JOB = "jobs/job-000001"
AT = "2026-11-20T10:00:00Z"
TEAM: dict[str, Any] = {
    "name": "vision",
    "quota": {"jobs": 20, "gpuHours": 100, "budget": 500},
    "use": {
        "jobs": 4,
        "nodes": 8,
        "gpus": 32,
        "gpuHours": 95.5,
        "cost": 120.25,
        "waiting": 3,
        "borrowed": 1,
        "lent": 0,
        "reservedGpuHours": 15.5,
        "reservedCost": 20.25,
    },
    "months": {"2026-11": {"jobs": 9, "nodeHours": 20, "gpuHours": 80, "cost": 100}},
}
SHARE = {"team": "vision", "owner": "ann", "jobs": 9, "nodeHours": 20, "gpuHours": 80, "cost": 100}
SHARE |= {"atWork": 2, "reservedGpuHours": 15.5, "reservedCost": 20.25}
USAGE = {"month": "2026-11", "currency": "EUR", "teams": [TEAM], "countedSince": AT, "shares": [SHARE]}
CODE: dict[str, Any] = {"sha256": "ab" * 32, "bytes": 3000, "files": 1, "at": "work", "origin": "upload"}
LISTING = {**CODE, "entries": [{"name": "train.py", "bytes": 9}], "more": False}
#: Each view, and a text of it that stays while nothing new comes.
VIEWS = {
    "overview": "Needs attention",
    "jobs": "train-000001",
    "jobs?sweep=s_1": "tune",
    "jobs?view=compare": "0.5",
    "jobs?group=experiment": "vision",
    "jobs?group=sweep": "tune",
    JOB: "Terminal",
    f"{JOB}/log": "line 1 of the log",
    f"{JOB}/metrics": "loss",
    f"{JOB}/files": "model.txt",
    f"{JOB}/document": "echo once",
    f"{JOB}/code": "train.py",
    f"{JOB}/deliveries": "e-1",
    "clusters": "Who uses gpu",
    "usage": "80 GPU-hours used",
    "usage?by=owner": "ann",
    "operate": "six tries",
}


def data(url: str) -> bool:
    """Whether an address is one of the API, beside the page and who calls."""
    return "/api/" in url and "/api/ui/" not in url and not url.endswith("/api/me")


async def answer_everything(page: Page) -> None:
    """A job that runs, two that have ended, a sweep, a cluster, teams and an operator's lists."""
    member = {"experiment": "vision", "sweep": {"id": "s_1", "index": 0, "values": {"lr": 0.1}}}
    running = {**listed(1, state="running", code=CODE, **member), "history": [_entry("running")]}
    del running["endedAt"]
    ended = [listed(number, labels={"lr": f"0.{number}"}, experiment="vision") for number in (2, 3)]
    jobs = {"jobs": [running, *ended], "next": None}
    counts = {"total": 9, "parallel": 1, "atWork": 1, "waiting": 7, "counts": {}}
    sweep = {"sweepId": "s_1", "name": "tune", "state": "active", "createdAt": AT, **counts}
    series = {"name": "loss", "file": "OUT/m.jsonl", "axis": "step", "points": [[0, 1], [1, 0.5]]}
    cluster = {"name": "gpu", "engine": "slurm", "state": "steady", "nodes": 2}
    dead = {"id": "d-1", "kind": "event", "since": AT, "reason": "six tries"}
    url = "https://hooks.example.org/x"
    target = {"url": url, "state": "dead", "attempts": 0, "last": "503", "tries": []}
    event = {"id": "e-1", "type": "io.slipway.job.succeeded.v1", "state": "dead", "targets": [target]}
    spec = {"properties": {"customToolkitSettings": {"commandLine": "echo once"}}}
    answers: dict[str, dict[str, Any]] = {
        "overview*": busy(),
        "jobs?*": jobs,
        "sweeps/s_1": {"name": "tune", "state": "active", **counts},
        "sweeps?*": {"sweeps": [sweep], "more": False},
        "clusters?*": {"clusters": [cluster]},
        "health": {"storage": "ok", "clusters": {"ok": 1}, "paused": False},
        "dead": {"dead": [dead]},
        "receivers": {"receivers": []},
        "usage*": USAGE,
        "validate": {"valid": True, "problems": []},
    }
    for number, job in enumerate((running, *ended), 1):
        answers |= {
            f"jobs/job-{number:06}": {"history": [], **job},
            f"jobs/job-{number:06}/receipt": {"accepted": spec},
            f"jobs/job-{number:06}/metrics?*": {"series": [series], "next": "m", "more": False},
            f"jobs/job-{number:06}/events": {"events": [event]},
            f"jobs/job-{number:06}/outputs": {"outputs": []},
            f"jobs/job-{number:06}/code": LISTING,
            f"jobs/job-{number:06}/files?*": {"files": [{"name": "model.txt", "bytes": 9, "modified": None}]},
            f"jobs/job-{number:06}/files": {"files": [{"name": "stdout.txt", "bytes": 9, "modified": None}]},
            f"jobs/job-{number:06}/live?*": live(
                {"history": [], **job}, {"stdout.txt": "line 1 of the log\n"}, [series]
            ),
        }
    for end, body in answers.items():
        await answer_tagged(page, f"**/api/{end}", body)


def _entry(state: str) -> dict[str, Any]:
    return {"sequence": 1, "state": state, "at": AT, "attempt": 1}


Answer = Callable[[Route], Awaitable[None]]


def refusing(status: int, **headers: str) -> Answer:
    """A problem document of the API."""

    async def refuse(route: Route) -> None:
        problem = {"status": status, "detail": f"refused with {status}", "remedy": "Ask the operator."}
        kind = {"Content-Type": "application/problem+json"}
        await route.fulfill(status=status, headers={**kind, **headers}, body=json.dumps(problem))

    return refuse


def answering(body: str, status: int = 200) -> Answer:
    async def answer(route: Route) -> None:
        await route.fulfill(status=status, body=body, content_type="text/html")

    return answer


async def _reset(route: Route) -> None:
    await route.abort("connectionreset")


async def _hang(_: Route) -> None:
    """Answer nothing: the page has to give up by itself."""


#: What comes in the place of an answer, and what the page says of it.
FAULTS: dict[str, tuple[Answer, str]] = {
    "401": (refusing(401), "refused with 401"),
    "403": (refusing(403), "refused with 403"),
    "404": (refusing(404), "refused with 404"),
    "409": (refusing(409), "refused with 409"),
    "413": (refusing(413), "refused with 413"),
    "429": (refusing(429), "refused with 429"),
    "500": (refusing(500), "refused with 500"),
    "503 of a proxy": (answering("<h1>Unavailable</h1>", 503), "The answer was 503"),
    "a page of a proxy": (answering("<html>Sign in to the hotel</html>"), "is not "),
    "torn JSON": (answering('{"jobs": [{"id": "j'), "is not "),
    "a list": (answering("[]"), ""),
    "another shape": (answering('{"detail": "an API of someone else"}'), ""),
    "a reset": (_reset, "The deployment does not answer"),
    "nothing": (_hang, "answer"),
}
