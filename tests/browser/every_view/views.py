"""Every view of the page, with jobs of which nothing is new, so that each can be looked at as it rests."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page, expect

from tests.browser.reader import Reader, answer_tagged, listed
from tests.browser.trouble.everything import CODE, LISTING

RUNNING = "jobs/job-000001"
ENDED = "jobs/ENDED"
SWEEP = "s_1"
_PARTS = ("", "/log", "/metrics", "/files", "/document", "/code", "/deliveries")
VIEWS = (
    *("jobs", f"jobs?sweep={SWEEP}", f"jobs?sweep={SWEEP}&view=compare", "jobs?group=experiment"),
    *("clusters", "operate", "new"),
    *(f"{RUNNING}{part}" for part in _PARTS),
    *(f"{ENDED}{part}" for part in _PARTS),
)


async def answer_running(page: Page) -> None:
    """Answer for a job that goes on, and of which nothing is new."""
    entry = {"sequence": 1, "state": "running", "at": "2026-11-20T10:00:00Z", "attempt": 1}
    job = listed(1, state="running", endedAt=None, code=CODE) | {"history": [entry]}
    answers: dict[str, dict[str, Any]] = {
        "": {name: value for name, value in job.items() if value is not None},
        "/files*": {"files": []},
        "/code": LISTING,
        "/outputs": {"outputs": []},
        "/events": {"events": []},
        "/metrics*": {"series": [], "next": "n", "more": False, "restarted": False},
    }
    for end, body in answers.items():
        await answer_tagged(page, f"**/api/{RUNNING}{end}", body)
    headers = {"Slipway-Next-Offset": "0", "Slipway-More": "false"}
    await page.route(
        f"**/api/{RUNNING}/log?*",
        lambda route: route.fulfill(body="", content_type="text/plain", headers=headers),
    )


async def answer_sweep(page: Page) -> None:
    """Answer for a sweep of which one job runs and others wait, and of which nothing is new."""
    member = {"sweep": {"id": SWEEP, "index": 0, "values": {"lr": 0.1}}, "cluster": "gpu"}
    going = {"state": "running", "endedAt": None}
    jobs = [listed(number, **(going if number == 1 else {}), **member) for number in (1, 2)]
    counts = {"total": 9, "parallel": 1, "atWork": 1, "waiting": 7, "counts": {"succeeded": 1}}
    await answer_tagged(page, f"**/api/sweeps/{SWEEP}", {"name": "tune", "state": "active", **counts})
    await answer_tagged(page, f"**/api/jobs?*sweep={SWEEP}*", {"jobs": jobs, "next": None})


async def open_view(reader: Reader, view: str, ended: str) -> None:
    await answer_running(reader.page)
    await answer_sweep(reader.page)
    await reader.open(view.replace("ENDED", ended))
    await reader.page.reload()
    await expect(reader.page.get_by_role("heading", level=1)).to_be_visible()
    await expect(reader.page.get_by_text("Loading…")).to_have_count(0)


async def pass_time(page: Page, seconds: int, step: int = 1) -> None:
    """Let the page's clock go on, so many seconds at once; every answer comes before the next ones."""
    for _ in range(0, seconds, step):
        await page.clock.run_for(1000 * step)
        await page.evaluate("fetch(location.pathname)")  # what was asked before this is answered now
