"""Every view of the page, with jobs of which nothing is new, so that each can be looked at as it rests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Page, Request, expect

from tests.browser.one_job.live import live
from tests.browser.overview.answers import busy
from tests.browser.reader import Reader, answer_as_first, answer_tagged, listed
from tests.browser.trouble.everything import AT, CODE, LISTING

RUNNING = "jobs/job-000001"
ENDED = "jobs/ENDED"
SWEEP = "s_1"
_PARTS = ("", "/log", "/metrics", "/files", "/document", "/code", "/deliveries")
VIEWS = (
    *("overview", "jobs", f"jobs?sweep={SWEEP}", f"jobs?sweep={SWEEP}&view=compare", "jobs?group=experiment"),
    *("jobs?group=sweep", "clusters", "usage", "operate", "new"),
    *(f"{RUNNING}{part}" for part in _PARTS),
    *(f"{ENDED}{part}" for part in _PARTS),
)


async def answer_running(page: Page) -> None:
    """Answer for a job that goes on, and of which nothing is new."""
    entry = {"sequence": 1, "state": "running", "at": "2026-11-20T10:00:00Z", "attempt": 1}
    job = listed(1, state="running", endedAt=None, code=CODE) | {"history": [entry]}
    job = {name: value for name, value in job.items() if value is not None}
    answers: dict[str, dict[str, Any]] = {
        "": job,
        "/live?*": live(job, {}, []),
        "/files*": {"files": []},
        "/code": LISTING,
        "/outputs": {"outputs": []},
        "/events": {"events": []},
    }
    for end, body in answers.items():
        await answer_tagged(page, f"**/api/{RUNNING}{end}", body)


async def answer_overview(page: Page) -> None:
    """Answer for a deployment with work in which nothing changes."""
    await answer_tagged(page, "**/api/overview?*", busy())


async def answer_sweep(page: Page) -> None:
    """Answer for a sweep of which one job runs and others wait, and of which nothing is new."""
    member = {"sweep": {"id": SWEEP, "index": 0, "values": {"lr": 0.1}}, "cluster": "gpu"}
    going = {"state": "running", "endedAt": None}
    jobs = [listed(number, **(going if number == 1 else {}), **member) for number in (1, 2)]
    counts = {"total": 9, "parallel": 1, "atWork": 1, "waiting": 7, "counts": {"succeeded": 1}}
    await answer_tagged(page, f"**/api/sweeps/{SWEEP}", {"name": "tune", "state": "active", **counts})
    line = {"sweepId": SWEEP, "name": "tune", "state": "active", "createdAt": AT, **counts}
    await answer_tagged(page, "**/api/sweeps?*", {"sweeps": [line], "more": False})
    await answer_tagged(page, f"**/api/jobs?*sweep={SWEEP}*", {"jobs": jobs, "next": None})


async def open_view(reader: Reader, view: str, ended: str) -> None:
    await answer_as_first(reader.page, "**/api/jobs?*")
    await answer_as_first(reader.page, "**/api/clusters?*")
    await answer_running(reader.page)
    await answer_sweep(reader.page)
    await answer_overview(reader.page)
    await reader.open(view.replace("ENDED", ended))
    await reader.page.reload()
    await expect(reader.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(reader.page.get_by_text("Loading…")).to_have_count(0)


@asynccontextmanager
async def every_answer(page: Page) -> AsyncIterator[Callable[[], Awaitable[Any]]]:
    """Give a function that waits until each request of this page was answered."""
    unanswered, answered = set[Request](), asyncio.Event()
    answered.set()

    def begin(request: Request) -> None:
        unanswered.add(request)
        answered.clear()

    def end(request: Request) -> None:
        unanswered.discard(request)
        if not unanswered:
            answered.set()

    listeners = (("request", begin), ("requestfinished", end), ("requestfailed", end))
    for event, listener in listeners:
        page.on(event, listener)  # type: ignore[call-overload]  # its names are literals
    try:
        yield answered.wait
    finally:
        for event, listener in listeners:
            page.remove_listener(event, listener)


async def pass_time(page: Page, seconds: int, step: int = 1) -> None:
    """Let the page's clock go on, so many seconds at once; every answer comes before the next ones.

    The clock stands meanwhile: what the machine takes is not added.
    """
    soon = 2  # a moment of the past is refused
    await page.clock.pause_at(await page.evaluate("Date.now() / 1000") + soon)
    async with every_answer(page) as answered:
        for _ in range(soon, seconds, step):
            await page.clock.run_for(1000 * step)
            await answered()
            await page.evaluate("fetch(location.pathname)")  # the page has taken in the answers
    await page.clock.resume()
